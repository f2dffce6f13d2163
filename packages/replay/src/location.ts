/*! Where a statement comes from, and what it is called in messages. */
import { displayName, escapeControls, significantTokens } from '@sqlpipe/sql';
import type { Location, Outcome } from './outcome.js';

type LabelledStatement = Pick<Outcome, 'n' | 'statement' | 'identity' | 'location' | 'position'>;

/** Which statement it is: `statement 3 (table 'fx_trades')`, or `schema.sql:42: table 'fx_trades'` where it is in a file. */
export function statementLabel({ n, statement, identity, location, position }: LabelledStatement): string {
  const what = escapeControls(displayName(identity));
  if (location?.line !== undefined) return `${escapeControls(formatLocation(location, statement, position))}: ${what}`;
  return `${location ? `${escapeControls(location.path)}: ` : ''}statement ${n} (${what})`;
}

/** A location for messages: `schema.sql:42` with the line of a position in the statement, else with that of its first word. */
function formatLocation({ path, line }: Location, statement: string, position?: number): string {
  if (line === undefined) return path;
  const [first] = significantTokens(statement);
  const before = statement.slice(0, position ?? first?.start ?? 0);
  return `${path}:${line + before.split('\n').length - 1}`;
}
