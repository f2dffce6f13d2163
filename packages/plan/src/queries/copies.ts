import { doubleQuote } from '@sqlpipe/ddl';
import type { TableCopy } from '@sqlpipe/engine';
import { quoteLiteral } from '@sqlpipe/sql';
import { chooseAliasPrefix } from '../statements.js';

/** SQL for the text of an array. QuestDB 9.3.4 cannot group rows by an array. */
export const printArrayText = (column: string): string => `${doubleQuote(column)} ::VARCHAR`;

export interface CopyWithCasts extends TableCopy {
  /** `cast` is SQL that converts a value of `from` to the type of `to`. */
  readonly columns: readonly { readonly from: string; readonly to: string; readonly cast: string }[];
}

/** Adds up 1 and -1, because 9.3.4 miscounts groups of a UNION ALL. @param sign `>`: no row is more often in `from`; `<`: in `to` */
export function printSurplusAssertion({ from, to, columns }: CopyWithCasts, sign: '>' | '<', alias: string): string {
  const names = columns.map(column => doubleQuote(column.to)).join(', ');
  const values = columns.map(column => `${column.cast} ${doubleQuote(column.to)}`).join(', ');
  const prefix = chooseAliasPrefix(columns.map(column => column.to));
  const [side, more] = [`${prefix}side`, `${prefix}more`];
  const copies = columns.map(({ from, to, cast }) =>
    cast === printArrayText(from) ? printArrayText(to) : doubleQuote(to),
  );
  const both = `SELECT 1 ${side}, ${values} FROM ${quoteLiteral(from)} UNION ALL SELECT -1, ${copies.join(', ')} FROM ${quoteLiteral(to)}`;
  const rows = `SELECT ${names}, sum(${side}) ${more} FROM (${both}) GROUP BY ${names}`;
  return `SELECT coalesce(sum(CASE WHEN ${more} ${sign} 0 THEN ${more} ELSE 0 END), 0) = 0 AS ${alias} FROM (${rows});`;
}

/** Counts the rows that a copy lacks, because the server keeps one of those with the same keys. `sum`, because 9.3.4 miscounts groups. */
export function printDuplicatesQuestion(from: string, keys: CopyWithCasts['columns']): string {
  const values = keys.map(({ cast, to }) => `${cast} ${doubleQuote(to)}`).join(', ');
  const rows = `${chooseAliasPrefix(keys.map(({ to }) => to))}rows`;
  return `SELECT coalesce(sum(${rows} - 1), 0) FROM (SELECT ${values}, count() ${rows} FROM ${quoteLiteral(from)})`;
}

const CAST =
  /(?:CAST\((?:CAST\()?"([^"]+)"(?: AS STRING\))? AS [\w(),]+\)|"([^"]+)"(?: ::VARCHAR)?) "([^"]+)"(?:, |$)/g;

/**
 * Without columns if the text is no `printSurplusAssertion`. The text is cut first, because one pattern for the complete text would take
 * quadratic time.
 */
export function parseCopy(text: string): CopyWithCasts {
  const middle = text.lastIndexOf(' UNION ALL SELECT -1, ');
  const [, side = ''] = text.slice(0, middle).split(/ FROM \(SELECT 1 sqlpipe_+side, /);
  const [, values = '', from = ''] = /^(.+) FROM '([^']+)'$/.exec(side) ?? [];
  const [, to = ''] = / FROM '([^']+)$/.exec(text.slice(middle, text.lastIndexOf("') GROUP BY "))) ?? [];
  const columns = [...values.matchAll(CAST)].map(([all, cast, bare, name = '']) => ({
    from: cast ?? bare ?? '',
    to: name,
    cast: all.slice(0, all.lastIndexOf(` "${name}"`)),
  }));
  return { from, to, columns };
}
