import {
  collectStatements,
  type Entry,
  type RelatedOptions,
  Schema,
  selectWithRelated,
  toEntry,
} from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import { escapeControls, formatSafeJson } from '@sqlpipe/text';

/**
 * The statements that match, with their dependencies or dependents if requested, in input order. If neither is
 * requested, the statements are passed on as they arrive.
 */
export async function* selectStatements(
  statements: AsyncIterable<string>,
  matches: (entry: Entry) => boolean,
  related: RelatedOptions,
): AsyncGenerator<string> {
  if (related.withDeps || related.withDependents) {
    const schema = new Schema(await collectStatements(statements));
    for (const { statement } of selectWithRelated(schema, matches, related)) yield statement;
  } else {
    for await (const statement of statements) if (matches(toEntry(statement))) yield statement;
  }
}

/** The kind of an object, a tab, its name. */
export function formatListLine(statement: string): string {
  const { kind, name } = identify(statement);
  return `${kind}\t${escapeControls(name)}\n`;
}

/** A line of JSON: an object with `kind`, `name` and `statement`. The statement is unchanged, with its secrets. */
export function formatJsonLine(statement: string): string {
  const { kind, name } = identify(statement);
  return `${formatSafeJson({ kind, name, statement })}\n`;
}
