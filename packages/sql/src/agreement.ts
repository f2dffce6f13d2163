/*!
 * What a statement is, as SQL has it and as servers do: comments may hide from one what the other runs. So whoever acts
 * on what a statement is asks here first.
 */
import { type Head, headAtAGlance, type Identity, type Kind, readHead, title } from './identify.js';
import { excerpt } from './printable.js';
import { SERVER_READINGS, type ServerReading, serverTokens } from './server-lexer.js';
import { meaningful, type Token } from './tokens.js';

/** A statement that is one thing to SQL and another to a server. */
export class AmbiguousStatementError extends Error {
  override readonly name = 'AmbiguousStatementError';
  readonly code = 'REFUSED';
}

/** What a statement is to SQL, which is what our programs show and pick by. */
export const describe = (statement: string): Head => headAtAGlance(statement) ?? readHead(meaningful(statement));

/**
 * Why a statement must not be acted on: how a server reads it as something else than SQL does; undefined where none does.
 * Of an object kind, name and where it comes from have to agree, as its own text only says what it is like; of all else
 * every word.
 * @param readings those of the servers that may run it; all unless given
 */
export function findAmbiguity(
  statement: string,
  readings: readonly ServerReading[] = SERVER_READINGS,
): string | undefined {
  const glance = headAtAGlance(statement);
  if ((glance && OBJECTS.has(glance.kind)) || isPlain(statement)) return undefined;
  const head = describe(statement);
  const hasComments = COMMENT.test(statement);
  for (const reading of readings) {
    const other = readHead(serverTokens(statement, reading));
    const isSame = COMPARED.every(property => head[property] === other[property]);
    if (!isSame) return explain(head, other, reading);
    if (!hasComments || OBJECTS.has(head.kind)) continue;
    if (words(meaningful(statement)) !== words(serverTokens(statement, reading))) return explain(head, other, reading);
  }
  return undefined;
}

/**
 * What a statement is, to SQL and to servers alike.
 * @throws AmbiguousStatementError where a server of that reading takes it for something else; see `findAmbiguity`
 */
export function requireUnambiguous(statement: string, readings: readonly ServerReading[]): Identity {
  const glance = headAtAGlance(statement);
  const isSure = glance !== undefined && OBJECTS.has(glance.kind);
  const { kind, name, verb } = isSure ? glance : describe(statement);
  const reason = isSure ? undefined : findAmbiguity(statement, readings);
  if (reason) throw new AmbiguousStatementError(`${excerpt(title({ kind, name, verb }), 80)}: ${reason}`);
  return { kind, name, verb };
}

const OBJECTS: ReadonlySet<Kind> = new Set(['table', 'view', 'matview', 'liveview']);

const COMPARED = ['kind', 'name', 'verb', 'replaces', 'runsQuery'] as const satisfies (keyof Head)[];

/** Without these marks no reading leaves anything out. */
const COMMENT = /--|\/\*/;

/** Words, the commonest signs, and quoted text that is next to no word: each reading finds the same tokens there. */
const PLAIN = /^(?:[\w$@ \t\n\r(),;.]|(?<![\w$@'"])(?:'[^']*'|"[^"]*"))*$/;

/** Whether a short statement is of nothing else; found fast, as most are that give rights. */
const isPlain = (statement: string): boolean => statement.length < 1000 && PLAIN.test(statement);

/** What is left of a text without comments, a blank for each gap. */
function words(tokens: Iterable<Token>): string {
  let text = '';
  let end = 0;
  for (const token of tokens) {
    text += token.start > end ? ` ${token.text}` : token.text;
    end = token.start + token.text.length;
  }
  return text.trimStart();
}

const VERSIONS: Record<ServerReading, string> = { '9.0': 'before 9.3.2', '9.3.2': 'from 9.3.2 on' };

function explain(head: Head, other: Head, reading: ServerReading): string {
  const [ours, theirs] = [head, other].map(each => excerpt(title(each) || 'no statement', 80));
  const what = ours === theirs ? 'reads other words of it' : `reads ${theirs}`;
  return `SQL reads ${ours}, and QuestDB ${VERSIONS[reading]} ${what}: leave quotes and dashes out of its comments`;
}
