/*! The `OWNED BY name` at the end of a CREATE, which the enterprise edition prints. */
import { meaningful, nameAt, type Token, wordOf } from '@sqlpipe/sql';

/** Who owns what a statement makes, as it says at its end. */
export function owner(statement: string): string | undefined {
  return clause(statement)?.name;
}

/** The statement without its `OWNED BY name`, which the open source edition refuses. */
export function withoutOwner(statement: string): string {
  const found = clause(statement);
  return found ? `${statement.slice(0, found.start).trimEnd()};` : statement;
}

function clause(statement: string): { name: string; start: number } | undefined {
  if (!/\bowned\b/i.test(statement)) return undefined; // few have it, and tokens take their time
  const tokens = [...meaningful(statement)];
  const at = tokens.findLastIndex(token => wordOf(token) === 'OWNED');
  if (at < 0 || wordOf(tokens[at + 1]) !== 'BY') return undefined;
  const { name, tokens: length } = nameAt(next => tokens[at + 2 + next]);
  const isLast = (tokens[at + 2 + length]?.text ?? ';') === ';';
  return name && isLast ? { name, start: (tokens[at] as Token).start } : undefined;
}
