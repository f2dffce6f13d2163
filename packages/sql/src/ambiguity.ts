/*!
 * What a statement is to SQL and what it is to servers: comments may hide from one what the other runs. Code that
 * depends on the kind of a statement checks here first.
 */

import { truncate } from './format-text.js';
import { displayName, type Head, type Identity, type Kind, readHead, readPrintedHead } from './identify.js';
import { SERVER_COMMENT_RULES, type ServerCommentRules, serverTokens } from './server-lexer.js';
import { significantTokens, type Token } from './tokens.js';

/** A statement that is one thing to SQL and another to a server. */
export class AmbiguousStatementError extends Error {
  override readonly name = 'AmbiguousStatementError';
  readonly code = 'REFUSED';
}

/** What a statement is to SQL, which is what our programs show and pick by. */
export const readStatementHead = (statement: string): Head =>
  readPrintedHead(statement) ?? readHead(significantTokens(statement));

/**
 * Why a statement must not be acted on: how a server reads it as something else than SQL does; undefined where none does.
 * Of an object kind, name and where it comes from have to agree, as its own text only says what it is like; of all else
 * every word.
 * @param allRules those of the servers that may run it; all unless given
 */
export function findAmbiguity(
  statement: string,
  allRules: readonly ServerCommentRules[] = SERVER_COMMENT_RULES,
): string | undefined {
  const glance = readPrintedHead(statement);
  if ((glance && OBJECTS.has(glance.kind)) || isPlain(statement)) return undefined;
  const head = readStatementHead(statement);
  const hasComments = COMMENT.test(statement);
  for (const rules of allRules) {
    const other = readHead(serverTokens(statement, rules));
    const isSame = COMPARED.every(property => head[property] === other[property]);
    if (!isSame) return formatAmbiguity(head, other, rules);
    if (!hasComments || OBJECTS.has(head.kind)) continue;
    if (joinTokens(significantTokens(statement)) !== joinTokens(serverTokens(statement, rules)))
      return formatAmbiguity(head, other, rules);
  }
  return undefined;
}

/**
 * What a statement is, to SQL and to servers alike.
 * @throws AmbiguousStatementError where a server with those rules reads something else; see `findAmbiguity`
 */
export function requireUnambiguous(statement: string, allRules: readonly ServerCommentRules[]): Identity {
  const glance = readPrintedHead(statement);
  const isSure = glance !== undefined && OBJECTS.has(glance.kind);
  const { kind, name, verb } = isSure ? glance : readStatementHead(statement);
  const reason = isSure ? undefined : findAmbiguity(statement, allRules);
  if (reason) throw new AmbiguousStatementError(`${truncate(displayName({ kind, name, verb }), 80)}: ${reason}`);
  return { kind, name, verb };
}

const OBJECTS: ReadonlySet<Kind> = new Set(['table', 'view', 'matview', 'liveview']);

const COMPARED = ['kind', 'name', 'verb', 'replaces', 'runsQuery'] as const satisfies (keyof Head)[];

/** Without these marks no reading leaves anything out. */
const COMMENT = /--|\/\*/;

/**
 * Words, common punctuation, and quoted text that is not next to a word: all comment rules give the same tokens there.
 */
const PLAIN = /^(?:[\w$@ \t\n\r(),;.]|(?<![\w$@'"])(?:'[^']*'|"[^"]*"))*$/;

/** Whether a short statement is of nothing else; found fast, as most are that give rights. */
const isPlain = (statement: string): boolean => statement.length < 1000 && PLAIN.test(statement);

/** What is left of a text without comments, a blank for each gap. */
function joinTokens(tokens: Iterable<Token>): string {
  let text = '';
  let end = 0;
  for (const token of tokens) {
    text += token.start > end ? ` ${token.text}` : token.text;
    end = token.start + token.text.length;
  }
  return text.trimStart();
}

const VERSIONS: Record<ServerCommentRules, string> = { '9.0': 'before 9.3.2', '9.3.2': 'from 9.3.2 on' };

function formatAmbiguity(head: Head, other: Head, rules: ServerCommentRules): string {
  const [ours, theirs] = [head, other].map(each => truncate(displayName(each) || 'no statement', 80));
  const what = ours === theirs ? 'reads it differently' : `reads ${theirs}`;
  return `SQL reads ${ours}, but QuestDB ${VERSIONS[rules]} ${what}; remove quotes and dashes from its comments`;
}
