/*! Whether SQL and servers read one statement alike. If not, a comment for one of them may be executed by the other. */
import { CodedError, formatExcerpt } from '@sqlpipe/text';
import {
  displayName,
  identify,
  readHead,
  readPrintedHead,
  type StatementHead,
  type StatementIdentity,
} from './identify.js';
import { isObjectKind } from './kinds.js';
import { NEWEST_COMMENT_RULES, SERVER_COMMENT_RULES, type ServerCommentRules, serverTokens } from './server-lexer.js';
import { canHaveComments, joinTokens, significantTokens } from './tokens.js';

/**
 * Explains how a server would read a statement differently from SQL; undefined if none would. Of an object, only the head has to be the
 * same; of any other statement, every token.
 * @param allRules those of the servers that may run the statement
 */
export function findAmbiguity(statement: string, allRules: readonly ServerCommentRules[] = SERVER_COMMENT_RULES) {
  const printedHead = readPrintedHead(statement);
  if (printedHead && isObjectKind(printedHead.kind)) return undefined;
  if (statement.length < 1000 && UNAMBIGUOUS.test(statement)) return undefined; // this is fast, and most grants pass it
  const head = printedHead ?? readHead(significantTokens(statement));
  const hasComments = canHaveComments(statement);
  for (const rules of allRules) {
    const other = readHead(serverTokens(statement, 0, rules));
    const compared = ['kind', 'name', 'verb', 'replaces', 'runsQuery'] as const;
    if (compared.some(property => head[property] !== other[property])) return formatAmbiguity(head, other, rules);
    if (!hasComments || isObjectKind(head.kind)) continue;
    if (joinTokens(significantTokens(statement)) !== joinTokens(serverTokens(statement, 0, rules)))
      return formatAmbiguity(head, other, rules);
  }
  return undefined;
}

/** Identifies a statement that SQL and the newest servers read alike. @throws CodedError if not; see `findAmbiguity` */
export function requireUnambiguous(statement: string): StatementIdentity {
  const identity = identify(statement);
  const reason = findAmbiguity(statement, [NEWEST_COMMENT_RULES]);
  if (reason) throw new CodedError('REJECTED', `${formatExcerpt(displayName(identity), 80)}: ${reason}`);
  return identity;
}

/** Matches text that has the same tokens by all rules: words, common punctuation, and quoted text that is not next to a word. */
const UNAMBIGUOUS = /^(?:[\w$@ \t\n\r(),;.]|(?<![\w$@'"])(?:'[^']*'|"[^"]*"))*$/;

function formatAmbiguity(head: StatementHead, other: StatementHead, rules: ServerCommentRules): string {
  const [ours, theirs] = [head, other].map(each => formatExcerpt(displayName(each) || 'no statement', 80));
  const what = ours === theirs ? 'reads it differently' : `reads ${theirs}`;
  const versions = rules === '9.0' ? 'before 9.3.2' : 'from 9.3.2 on';
  return `SQL reads ${ours}, but QuestDB ${versions} ${what}; remove quotes and dashes from its comments`;
}
