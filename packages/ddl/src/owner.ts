/*! The `OWNED BY name` at the end of a CREATE, which the enterprise edition prints. */
import { keywordOf, type LocatedName, parseName, significantTokens, type Token } from '@sqlpipe/sql';

/** The owner that the end of a statement names. */
export function ownerOf(statement: string): string | undefined {
  return findOwnerClause(statement)?.owner.name;
}

/** Removes `OWNED BY name` from a statement: the open source edition rejects it. */
export function removeOwner(statement: string): string {
  const clause = findOwnerClause(statement);
  return clause ? `${statement.slice(0, clause.start).trimEnd()};` : statement;
}

/** Finds the clause: the offset at which it starts, and the name in it. */
export function findOwnerClause(statement: string): { owner: LocatedName; start: number } | undefined {
  if (!/\bowned\b/i.test(statement)) return undefined; // few have it, and tokenizing is slow
  let clause: Token[] = []; // the last OWNED and the tokens after it
  for (const token of significantTokens(statement))
    if (keywordOf(token) === 'OWNED') clause = [token];
    else if (clause.length) clause.push(token);
  const [owned, by, ...rest] = clause;
  if (!owned || keywordOf(by) !== 'BY') return undefined;
  const { tokens, ...owner } = parseName(next => rest[next]);
  const isLast = (rest[tokens]?.text ?? ';') === ';';
  return owner.name && isLast ? { owner, start: owned.start } : undefined;
}
