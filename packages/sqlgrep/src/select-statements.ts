import {
  collectStatements,
  type Entry,
  type RelatedOptions,
  Schema,
  selectWithRelated,
  toEntry,
} from '@sqlpipe/schema';

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
