/*! CREATE VIEW, MATERIALIZED VIEW and LIVE VIEW as the service prints them (SERVICE.md 2.6 to 2.8), around the user's own text. */
import { serverTokens, significantTokens, type Token } from '@sqlpipe/sql';
import { repairVolume } from './repair-volume.js';

/** Up to the body. Names hold no quotes and no line breaks. */
const HEAD =
  /^CREATE (?:VIEW '[^']+'|MATERIALIZED VIEW '[^']+' WITH BASE '[^']+' REFRESH [^\n]+|LIVE VIEW '[^'\n]+'[^\n]*) AS \( ?\n/;

/** The statement with its body cut at the ends as services from 10 on do; older ones add a line on each replay. */
export function repairView(row: string, notes: string[]): string {
  const head = HEAD.exec(row)?.[0];
  const end = row.lastIndexOf('\n)'); // nothing after the body contains a line break and a parenthesis
  if (!head || end < 0) return row;
  const body = removeSemicolon(trim(row.slice(head.length, end)), notes);
  return head + body + repairVolume(repairPartition(row.slice(end), notes), notes);
}

/** Without the characters up to U+0020 at both ends. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charAt(start) <= ' ') start++;
  while (end > start && text.charAt(end - 1) <= ' ') end--;
  return text.slice(start, end);
}

/** A view made without parentheses keeps the `;` of its statement, which closes it too early in those it is printed with. */
function removeSemicolon(body: string, notes: string[]): string {
  // Quotes in block comments make two readings; here only the right one ends outside them.
  const isLastIn = (read: Iterable<Token>) => [...read].at(-1)?.start === body.length - 1;
  if (!body.endsWith(';') || !(isLastIn(significantTokens(body)) || isLastIn(serverTokens(body, '9.3.2')))) return body;
  notes.push('removed the semicolon at the end of its body');
  return trim(body.slice(0, -1));
}

/**
 * A TTL in months that is not whole years is rejected together with PARTITION BY YEAR, but accepted where the service
 * chooses years itself (observed on 9.3.4). So a view that has both was made without a unit.
 */
function repairPartition(end: string, notes: string[]): string {
  const repaired = end.replace(/^(\n\)) PARTITION BY YEAR(?= TTL \d+ MONTHS?\b)/, '$1');
  if (repaired !== end) notes.push('removed PARTITION BY YEAR, which conflicts with its TTL in months');
  return repaired;
}
