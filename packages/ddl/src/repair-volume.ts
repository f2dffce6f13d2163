import { quoteName } from './names.js';

const CLAUSE = ', IN VOLUME ';

/** The end of CREATE with a volume as the parser accepts it: without the comma that the service prints before it, and quoted. */
export function repairVolume(end: string, notes: string[]): string {
  const start = end.indexOf(CLAUSE);
  if (start < 0) return end;
  const rest = end.slice(start + CLAUSE.length);
  const [volume = ''] = rest.split(/\n| OWNED BY |;$/, 1);
  if (volume === '' || volume === rest) return end;
  notes.push('removed the comma before IN VOLUME');
  return `${end.slice(0, start)} IN VOLUME ${quoteName(volume)}${rest.slice(volume.length)}`;
}
