/*! Where a statement comes from, and what it is called in messages. */
import { changedObjects } from '@sqlpipe/plan';
import { displayName, escapeControls, significantTokens } from '@sqlpipe/sql';
import type { Location, Outcome } from './outcome.js';

type LabelledStatement = Pick<Outcome, 'n' | 'statement' | 'identity' | 'location' | 'position'>;

/** What a statement creates, `table 'fx_trades'`, or what it does to what: `ALTER of table 'fx_trades'`. */
export function describeStatement({ statement, identity }: Pick<Outcome, 'statement' | 'identity'>): string {
  const [object] = identity.kind === 'other' ? changedObjects(statement) : [];
  return object ? `${identity.verb} of ${displayName(object)}` : displayName(identity);
}

/** Which statement it is: `statement 3 (table 'fx_trades')`, or `schema.sql:42: table 'fx_trades'` where it is in a file. */
export function statementLabel({ n, statement, identity, location, position }: LabelledStatement): string {
  const what = escapeControls(describeStatement({ statement, identity }));
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
