import { keywordOf, normalizeStatement, significantTokens, type Token, TokenReader } from '@sqlpipe/sql';

/** The owner in `OWNED BY name` at the end of a CREATE, as the enterprise edition prints it; undefined if there is none. */
export const ownerOf = (statement: string): string | undefined => findOwnerClause(statement)?.owner.name;

/** Removes `OWNED BY name`, which the open source edition rejects. */
export function removeOwner(statement: string): string {
  const clause = findOwnerClause(statement);
  return clause ? normalizeStatement(statement.slice(0, clause.start)) : statement;
}

export function findOwnerClause(statement: string, tokens: Iterable<Token> = significantTokens(statement)) {
  if (!/\bowned\b/i.test(statement)) return undefined; // few have it, and tokenizing is slow
  let clause: Token[] = []; // the last OWNED and the tokens after it
  for (const token of tokens)
    if (keywordOf(token) === 'OWNED') clause = [token];
    else if (clause.length) clause.push(token);
  const words = new TokenReader(clause);
  if (!words.accept('OWNED BY')) return undefined;
  const owner = words.readName();
  const isLast = (words.peek()?.text ?? ';') === ';';
  return owner.name && isLast ? { owner, start: clause[0]?.start as number } : undefined;
}
