/*! Where a statement comes from, and what it is called in messages. */
import { changedObjects } from '@sqlpipe/plan/text';
import { displayName, significantTokens } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import type { Location, Outcome } from './outcome.js';

type LabelledStatement = Pick<Outcome, 'n' | 'statement' | 'identity' | 'location' | 'position'>;

/** What a statement creates, `table 'fx_trades'`, or what it does to what: `ALTER of table 'fx_trades'`. */
export function describeStatement({ statement, identity }: Pick<Outcome, 'statement' | 'identity'>): string {
  const [object] = identity.kind === 'other' ? changedObjects(statement) : [];
  return object ? `${identity.verb} of ${displayName(object)}` : displayName(identity);
}

/** Which statement it is: `statement 3 (table 'fx_trades')`, or `schema.sql:42: table 'fx_trades'` where it is in a file. */
export function statementLabel(labelled: LabelledStatement): string {
  const { n } = labelled;
  const what = escapeControls(describeStatement(labelled));
  const { path, line } = locate(labelled) ?? {};
  if (path === undefined) return `statement ${n} (${what})`;
  return line === undefined
    ? `${escapeControls(path)}: statement ${n} (${what})`
    : `${escapeControls(path)}:${line}: ${what}`;
}

/** The file of a statement, and the line of a position in it, else of its first word. */
export function locate({
  statement,
  location,
  position,
}: Pick<LabelledStatement, 'statement' | 'location' | 'position'>): Location | undefined {
  if (location?.line === undefined) return location;
  const [first] = significantTokens(statement);
  const before = statement.slice(0, position ?? first?.start ?? 0);
  return { path: location.path, line: location.line + before.split('\n').length - 1 };
}
