/*! Timestamps in statements: ISO 8601 with microseconds; all parts after the year are optional. */

const shape =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?)?)?(Z|[-+]\d\d(?::?\d\d)?)?$/;

/**
 * Parses a timestamp into the form that the server prints, `2025-01-01T00:00:00.000000Z`; undefined if it is invalid.
 * @param digits after the point: 9 for a TIMESTAMP_NS
 */
export function parseTimestamp(text: string, digits: 6 | 9 = 6): string | undefined {
  const match = shape.exec(text);
  if (!match) return;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    match;
  const offset =
    zone === 'Z' ? zone : zone.replace(/^(...):?(..)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`);
  const moment = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  if (Number.isNaN(moment.getTime())) return;
  const parts = fraction.padEnd(digits, '0').slice(0, digits);
  return moment.toISOString().replace('.000Z', `.${parts}Z`);
}
