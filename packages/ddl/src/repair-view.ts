/*! Repairs CREATE VIEW, MATERIALIZED VIEW and LIVE VIEW as servers print them, with the user's own text as the body; and volumes. */
import { serverTokens, significantTokens, type Token } from '@sqlpipe/sql';
import { trimQuery } from './grammar/body.js';
import { findConflict } from './properties/retention.js';
import { quoteName } from './reserved-names.js';

/** Matches the statement up to the body. Names contain no quotes and no line breaks. */
const HEAD =
  /^CREATE (?:VIEW '[^']+'|MATERIALIZED VIEW '[^']+' WITH BASE '[^']+' REFRESH [^\n]+|LIVE VIEW '[^'\n]+'[^\n]*) AS \( ?\n/;

/** Trims the body of a view as servers from version 10 on do. Older servers add a line with each replay. */
export function repairView(row: string, notes: string[]): string {
  const head = HEAD.exec(row)?.[0];
  const end = row.lastIndexOf('\n)'); // nothing after the body contains a line break and a parenthesis
  if (!head || end < 0) return row;
  const body = removeSemicolon(trimQuery(row.slice(head.length, end)), notes);
  const conflict = /^\n\) PARTITION BY YEAR /.test(row.slice(end, end + 30)) ? findConflict(row, end + 2) : undefined;
  if (conflict) notes.push('removed PARTITION BY YEAR, which conflicts with its TTL in months');
  return head + body + repairVolume(`\n)${row.slice(conflict?.end ?? end + 2)}`, notes);
}

/**
 * Removes a `;` at the end of a body. A view that was created without parentheses stores the `;` of its statement. Servers
 * print the body in parentheses, where this `;` would end the statement too early.
 */
function removeSemicolon(body: string, notes: string[]): string {
  // With a quote in a block comment, SQL and the server may read different tokens; only the right reading ends with the `;`.
  const isLastIn = (tokens: Iterable<Token>) => [...tokens].at(-1)?.start === body.length - 1;
  if (!body.endsWith(';') || !(isLastIn(significantTokens(body)) || isLastIn(serverTokens(body, '9.3.2')))) return body;
  notes.push('removed the semicolon at the end of its body');
  return trimQuery(body.slice(0, -1));
}

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
