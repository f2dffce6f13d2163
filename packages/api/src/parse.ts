import { type Definition, parseDefinition, printDefinition, repair } from '@sqlpipe/ddl';
import { identify, isObject, type Kind, normalizeStatement } from '@sqlpipe/sql';
import { OptionsError } from './errors.js';

/** What one statement says. */
export interface Statement {
  /** `other` for what no schema contains: ALTER, INSERT, … */
  readonly kind: Kind;
  /** What it creates; for a grant or a membership, who receives it. */
  readonly name: string;
  /** Its first word, in upper case. */
  readonly verb: string;
  /** What a CREATE of a table or a view means, however it is written. */
  readonly definition?: Definition;
}

/**
 * What a statement says. Two statements that create the same object have the same definition.
 *
 * ```ts
 * import { parse } from 'sqlpipe';
 *
 * const { kind, name, definition } = parse('create table trades (ts timestamp, qty int) timestamp(ts) partition by day');
 * console.log(kind, name);
 * if (definition?.kind === 'table') for (const { name, type } of definition.columns) console.log(name, type);
 * // table trades
 * // ts TIMESTAMP
 * // qty INT
 * ```
 *
 * Throws an error with the code `REJECTED` and the `position` (an index into the statement) for a CREATE that is not QuestDB's
 * syntax, with `DAMAGED` for what is not one statement, and with `USAGE` for what is no string.
 */
export function parse(statement: string): Statement {
  if (typeof statement !== 'string') throw new OptionsError('parse: a statement is not a string');
  const text = normalizeStatement(statement);
  const { kind, name, verb } = identify(text);
  if (!isObject(kind)) return { kind, name, verb };
  const { statement: repaired, notes, warnings } = repair(text);
  return { kind, name, verb, definition: parseDefinition(notes.length + warnings.length > 0 ? repaired : statement) };
}

/**
 * The statement that creates what a definition says, in the form that QuestDB prints. The inverse of `parse`.
 *
 * ```ts
 * import { parse, print } from 'sqlpipe';
 *
 * const { definition } = parse('create table trades (ts timestamp, qty int) timestamp(ts) partition by day');
 * if (definition) console.log(print({ ...definition, name: 'deals' }));
 * // CREATE TABLE 'deals' (
 * // \tts TIMESTAMP,
 * // \tqty INT
 * // ) timestamp(ts) PARTITION BY DAY;
 * ```
 */
export const print = (definition: Definition): string => printDefinition(definition, { quoted: true });
