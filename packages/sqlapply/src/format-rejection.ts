import { formatPropertyLines } from '@sqlpipe/cli';
import { COLUMN_ORDER } from '@sqlpipe/ddl';
import { columnOrderHints } from '@sqlpipe/plan/text';
import { formatStatementLabel, type Outcome } from '@sqlpipe/replay';
import { isAclKind, redact } from '@sqlpipe/sql';
import { escapeControls, formatExcerpt, formatHints } from '@sqlpipe/text';

const MAX_LINE = 100;

const DENIED_STATEMENT_HELP = '; does the user have the permission, or is the server read-only?';

/** The server's message, below it a caret or the differences, and a hint if one is known. */
export function formatRejection(outcome: Outcome, label: string, hasColors = false): [head: string, below?: string[]] {
  const { statement, result, error = '', position, comparison, isDenied } = outcome;
  const unknown = result === 'unknown' ? 'whether it was applied is unknown: ' : '';
  const head = `${formatStatementLabel(outcome)}: ${unknown}${formatExcerpt(error, 1000)}${isDenied ? DENIED_STATEMENT_HELP : ''}`;
  const differences = formatPropertyLines(comparison?.differences ?? [], ['the statement', label], hasColors);
  const caret = position === undefined ? [] : formatCaret(redact(statement), position);
  const below = differences.length > 0 ? differences.map(line => `  ${line}`) : caret;
  return [head, [...below, ...formatHints(findHints(outcome))]];
}

function formatCaret(text: string, position: number): string[] {
  const at = Math.min(Math.max(position, 0), text.length);
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const start = Math.max(lineStart, at - MAX_LINE / 2);
  const [line = ''] = text.slice(start, start + MAX_LINE).split('\n', 1);
  const before = text.slice(start, at);
  const plain = (piece: string) => escapeControls(piece.replaceAll('\t', ' '));
  return [`  ${plain(line)}`, `  ${' '.repeat(plain(before).length)}^`];
}

function findHints({ identity: { kind, name }, error = '', isDenied, comparison }: Outcome): string[] {
  if (comparison?.differences.some(({ property }) => property === COLUMN_ORDER)) return columnOrderHints(name);
  // The server pairs quotes and sees `--` inside block comments (observed on 9.3.4).
  if (error === 'empty query')
    return ['the server also reads quotes and -- inside /* */ comments: is there such a comment before the statement?'];
  // The open source edition does not know the clauses and keywords of the enterprise edition (observed on 9.3.4).
  const isAcl = isAclKind(kind);
  if (!isAcl && /unexpected token \[storage\]/i.test(error))
    return ['STORAGE POLICY is a clause of the enterprise edition; sqltr --to open-source replaces it by TTL'];
  if (!isAcl && /unexpected token \[owned\]/i.test(error))
    return [
      'OWNED BY is a clause of the enterprise edition; remove it with sqltr --to open-source --lossy, or with sqldump --no-owner',
    ];
  if (!isAcl) return [];
  if (isDenied) return ['access control requires permissions of its own; sqldump --include SCHEMA leaves it out'];
  return /'atomic' or 'table'|\bsuch as "|unexpected token \[(?:SERVICE|ACCOUNT|GRANT|TO)\]/i.test(error)
    ? ['the open source edition has no access control; sqltr --to open-source --lossy removes it']
    : [];
}
