/*! The `OWNED BY name` at the end of a CREATE, which the enterprise edition prints. */
import { keywordOf, type LocatedName, parseName, significantTokens, type Token } from '@sqlpipe/sql';

/** Who owns what a statement makes, as it says at its end. */
export function ownerOf(statement: string): string | undefined {
  return findOwnerClause(statement)?.owner.name;
}

/** The statement without its `OWNED BY name`, which the open source edition rejects. */
export function removeOwner(statement: string): string {
  const found = findOwnerClause(statement);
  return found ? `${statement.slice(0, found.start).trimEnd()};` : statement;
}

/** The clause, from its first word on, and the name in it. */
export function findOwnerClause(statement: string): { owner: LocatedName; start: number } | undefined {
  if (!/\bowned\b/i.test(statement)) return undefined; // few have it, and tokenizing is slow
  let last: Token[] = []; // the last OWNED, and what follows
  for (const token of significantTokens(statement))
    if (keywordOf(token) === 'OWNED') last = [token];
    else if (last.length) last.push(token);
  const [owned, by, ...behind] = last;
  if (!owned || keywordOf(by) !== 'BY') return undefined;
  const { tokens, ...owner } = parseName(next => behind[next]);
  const isLast = (behind[tokens]?.text ?? ';') === ';';
  return owner.name && isLast ? { owner, start: owned.start } : undefined;
}
