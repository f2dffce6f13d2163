import { type Definition, parseDefinition, printDefinition, repair, tryParseDefinition } from '@sqlpipe/ddl';
import { identify, isObjectKind, type Kind, normalizeStatement, significantTokens } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';

/** What one statement says. */
export interface Statement {
  /** `other` for statements that no schema contains, such as ALTER and INSERT. */
  readonly kind: Kind;
  /** The name of the object that it creates; for a grant or a membership, the user or group that receives it. */
  readonly name: string;
  /** Its first word, in upper case. */
  readonly verb: string;
  /** The meaning of a CREATE of a table or a view. */
  readonly definition?: Definition;
}

/**
 * Returns what a statement says. Two statements that create the same object have the same definition.
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
 * Throws `REJECTED` for a CREATE with wrong syntax, `DAMAGED` for text that is not exactly one statement.
 */
export function parse(statement: string): Statement {
  if (typeof statement !== 'string') throw new CodedError('USAGE', 'parse: a statement is not a string');
  const text = normalizeStatement(statement);
  const [first] = significantTokens(text);
  if (first === undefined || first.text === ';') throw new CodedError('DAMAGED', 'parse: the text has no statement');
  const { kind, name, verb } = identify(text);
  if (!isObjectKind(kind)) return { kind, name, verb };
  const { statement: repaired, notes, warnings } = repair(text);
  const isRepaired = notes.length + warnings.length > 0;
  // The position of an error must be one in the given statement. So the given statement is parsed again, and not the repaired one.
  return { kind, name, verb, definition: (isRepaired && tryParseDefinition(repaired)) || parseDefinition(statement) };
}

/**
 * Returns the statement that creates an object with this definition, as QuestDB prints it. The inverse of `parse`, except for what
 * QuestDB from 9.3 on does not print: the capacities of symbols, the parameters of tables, and the indexes and the timestamp of a
 * materialized view.
 *
 * ```ts
 * import { parse, print } from 'sqlpipe';
 *
 * const { definition } = parse('create table trades (qty int)');
 * if (definition) console.log(print({ ...definition, name: 'deals' }));
 * // CREATE TABLE 'deals' (
 * // \tqty INT
 * // );
 * ```
 */
export const print = (definition: Definition): string => printDefinition(definition, { quoted: true });
