import { quoteName } from './reserved-names.js';

const CLAUSE = ', IN VOLUME ';

/**
 * Repairs IN VOLUME at the end of a CREATE: removes the comma that the server prints before it, and quotes the volume.
 */
export function repairVolume(end: string, notes: string[]): string {
  const start = end.indexOf(CLAUSE);
  if (start < 0) return end;
  const rest = end.slice(start + CLAUSE.length);
  const [volume = ''] = rest.split(/\n| OWNED BY |;$/, 1);
  if (volume === '' || volume === rest) return end;
  notes.push('removed the comma before IN VOLUME');
  return `${end.slice(0, start)} IN VOLUME ${quoteName(volume)}${rest.slice(volume.length)}`;
}
