/*! The `OWNED BY name` at the end of a CREATE, which the enterprise edition prints. */
import { keywordOf, parseName, significantTokens, type Token } from '@sqlpipe/sql';

/** Who owns what a statement makes, as it says at its end. */
export function ownerOf(statement: string): string | undefined {
  return findOwnerClause(statement)?.name;
}

/** The statement without its `OWNED BY name`, which the open source edition rejects. */
export function removeOwner(statement: string): string {
  const found = findOwnerClause(statement);
  return found ? `${statement.slice(0, found.start).trimEnd()};` : statement;
}

function findOwnerClause(statement: string): { name: string; start: number } | undefined {
  if (!/\bowned\b/i.test(statement)) return undefined; // few have it, and tokenizing is slow
  let last: Token[] = []; // the last OWNED, and what follows
  for (const token of significantTokens(statement))
    if (keywordOf(token) === 'OWNED') last = [token];
    else if (last.length) last.push(token);
  const [owned, by, ...behind] = last;
  if (!owned || keywordOf(by) !== 'BY') return undefined;
  const { name, tokens } = parseName(next => behind[next]);
  const isLast = (behind[tokens]?.text ?? ';') === ';';
  return name && isLast ? { name, start: owned.start } : undefined;
}
