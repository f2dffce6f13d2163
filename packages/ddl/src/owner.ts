/*! The `OWNED BY name` at the end of a CREATE, which the enterprise edition prints. */
import { type LocatedName, meaningful, nameAt, type Token, wordOf } from '@sqlpipe/sql';

/** Who owns what a statement makes, as it says at its end. */
export function owner(statement: string): string | undefined {
  return ownerClause(statement)?.owner.name;
}

/** The statement without its `OWNED BY name`, which the open source edition refuses. */
export function withoutOwner(statement: string): string {
  const found = ownerClause(statement);
  return found ? `${statement.slice(0, found.start).trimEnd()};` : statement;
}

/** The clause, from its first word on, and the name in it. */
export function ownerClause(statement: string): { owner: LocatedName; start: number } | undefined {
  if (!/\bowned\b/i.test(statement)) return undefined; // few have it, and tokens take their time
  let last: Token[] = []; // the last OWNED, and what follows
  for (const token of meaningful(statement))
    if (wordOf(token) === 'OWNED') last = [token];
    else if (last.length) last.push(token);
  const [owned, by, ...behind] = last;
  if (!owned || wordOf(by) !== 'BY') return undefined;
  const { tokens, ...named } = nameAt(next => behind[next]);
  const isLast = (behind[tokens]?.text ?? ';') === ';';
  return named.name && isLast ? { owner: named, start: owned.start } : undefined;
}
