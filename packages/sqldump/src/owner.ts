import { meaningful } from '@sqlpipe/sql';

/** Statements without their owners. */
export async function* withoutOwners(statements: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const statement of statements) yield withoutOwner(statement);
}

/** A statement without the `OWNED BY name` at its end, which the open source edition refuses. */
function withoutOwner(statement: string): string {
  const last = [...meaningful(statement)].slice(-4);
  const [owned, by, name, end] = last;
  if (!name || owned?.text.toUpperCase() !== 'OWNED' || by?.text.toUpperCase() !== 'BY' || end?.text !== ';')
    return statement;
  return `${statement.slice(0, owned.start).trimEnd()};`;
}
