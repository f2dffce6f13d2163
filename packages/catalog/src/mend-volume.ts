import { quote } from './quote.js';

const VOLUME = ', IN VOLUME ';

/** The end of CREATE with a volume as the parser takes it: without the comma that the service prints before it, and quoted. */
export function mendVolume(end: string, notes: string[]): string {
  const start = end.indexOf(VOLUME);
  // Where nothing ends the first one nothing ends another: to look from each takes time by the square.
  const [, volume] = start < 0 ? [] : (/^(.+?)(?=\n|;$| OWNED BY )/.exec(end.slice(start + VOLUME.length)) ?? []);
  if (volume === undefined) return end;
  notes.push('the comma before IN VOLUME left out');
  return `${end.slice(0, start)} IN VOLUME ${quote(volume)}${end.slice(start + VOLUME.length + volume.length)}`;
}
