/*! Which objects a run creates. */
import { foldCase, identify, isObject } from '@sqlpipe/sql';

/** A key of the object that a statement creates; undefined if it creates none. */
function createdKey(statement: string): string | undefined {
  const { kind, name } = identify(statement);
  return isObject(kind) ? `${kind} ${foldCase(name)}` : undefined;
}

/** The keys of the objects that statements create. */
export const createdObjects = (statements: readonly string[]): Set<string> =>
  new Set(statements.flatMap(statement => createdKey(statement) ?? []));

/** Passes statements on, and notes the keys of the objects that they create. */
export async function* noteCreated(statements: AsyncIterable<string>, created: Set<string>): AsyncGenerator<string> {
  for await (const statement of statements) {
    const key = createdKey(statement);
    if (key !== undefined) created.add(key);
    yield statement;
  }
}
