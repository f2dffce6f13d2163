import { quoteName } from './names.js';

/** The end of CREATE with a volume as the parser takes it: without the comma that the service prints before it, and quoted. */
export function repairVolume(end: string, notes: string[]): string {
  return end.replace(/, IN VOLUME (.+?)(?=\n|;$| OWNED BY )/, (_, volume: string) => {
    notes.push('the comma before IN VOLUME left out');
    return ` IN VOLUME ${quoteName(volume)}`;
  });
}
