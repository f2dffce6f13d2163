/*!
 * Checks statements before anything is sent: are they allowed, supported by the server, and small enough for it? The assertions of plans
 * need no --allow, so such a statement must be exactly what the planner writes.
 */
import {
  createFeatureCheck,
  dependsOnVersion,
  findMissingFeatures,
  isRepairForm,
  parseAlters,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import { findLocation, type Location } from '@sqlpipe/files';
import {
  type Client,
  fetchParameters,
  fetchStatements,
  fetchVersion,
  fetchViewColumns,
  tryQuery,
} from '@sqlpipe/instance';
import {
  type Assertion,
  isCastQuery,
  parseAssertion,
  parseWith,
  printWith,
  redirectToWith,
  type WithQuery,
} from '@sqlpipe/plan/text';
import { splitWords } from '@sqlpipe/schema';
import {
  addToList,
  DEFAULT_REQUEST_BUFFER,
  findAmbiguity,
  identify,
  type NameMap,
  readStatementHead,
  SERVER_COMMENT_RULES,
  type ServerCommentRules,
  type StatementHead,
} from '@sqlpipe/sql';
import { CodedError, type LocatedMessage } from '@sqlpipe/text';
import { formatStatementLabel, formatStatementName } from '../outcome.js';

/**
 * A statement of this length is small enough for any server. The server stores a request twice, and a UTF-16 code unit needs at most nine
 * bytes. The rest of the request needs less than 16 KiB.
 */
const SAFE_LENGTH = (DEFAULT_REQUEST_BUFFER - 16 * 1024) / (2 * 9);

export interface PreflightRejection {
  readonly reason: string;
  /** What would allow the statement: --allow with a verb, `CTAS`, `REPLACE` or `all`; or --allow-plan. */
  readonly neededAllowance?: string;
}

const ALLOW_PLAN = '--allow-plan';

/** About an assertion of a plan: for example, somebody has changed its view since. To send it would prove nothing. */
const MISFIT = 'it does not fit the present state of the target; make the plan again with sqldiff --alter';

/** What a plan permits: its statements that no dump contains, if `allowsPlan` is set, and assertions with its queries. */
export interface PlanPermissions {
  readonly statements: Set<string>;
  readonly queries: ViewQueries;
  readonly allowsPlan: boolean;
}

export type PreflightCheck = (statement: string) => Promise<PreflightRejection | undefined>;

/** Statements were rejected before anything was sent. */
export class PreflightError extends CodedError {
  override name = 'PreflightError';
}

/**
 * Creates a check that rejects a statement in four cases:
 * - The server would read the statement differently than SQL (`findAmbiguity`).
 * - No schema dump has such a statement, and no option allows it.
 * - The server's version does not support it.
 * - It is too large for a request.
 * @param allow verbs, in any case, that are allowed too; `CTAS` and `REPLACE` for such a CREATE; `all` allows everything
 */
export function createPreflightCheck(
  client: Client,
  allow: readonly string[],
  permitted: PlanPermissions,
): PreflightCheck {
  const allowances = new Set(splitWords(allow).map(word => word.toUpperCase()));
  let version: Promise<string | undefined> | undefined;
  let parameters: Promise<ReadonlyMap<string, string> | undefined> | undefined;
  // An outage is reported when a statement is sent.
  const tryToFetch = <T>(query: Promise<T>) => tryQuery(query, () => true);
  const fetchVersionOnce = () => {
    version ??= tryToFetch(fetchVersion(client));
    return version;
  };
  return async statement => {
    const ambiguity = findAmbiguity(statement) && findAmbiguity(statement, commentRulesOf(await fetchVersionOnce()));
    if (ambiguity) return { reason: ambiguity };
    const head = readStatementHead(statement);
    const needed = findNeededAllowance(head, statement);
    const isInPlan = permitted.statements.has(statement);
    const isAllowed =
      !needed || allowances.has(needed.neededAllowance) || allowances.has('ALL') || (isInPlan && permitted.allowsPlan);
    if (!isAllowed) {
      const assertion = needed.neededAllowance === 'SELECT' ? parseAssertion(statement) : undefined;
      if (!assertion) return isInPlan ? { reason: needed.reason, neededAllowance: ALLOW_PLAN } : needed;
      if (!(await fetchFitsTarget(client, assertion, permitted.queries))) return { reason: MISFIT };
    }
    if (dependsOnVersion(statement)) {
      const known = await fetchVersionOnce();
      const missing = known === undefined ? [] : findMissingFeatures(statement, known);
      if (missing.length > 0)
        return { reason: `the target is QuestDB ${known}, which does not support ${missing.join(', ')}` };
    }
    if (statement.length <= SAFE_LENGTH) return undefined;
    const buffer = client.requiredBuffer(statement);
    if (buffer <= DEFAULT_REQUEST_BUFFER) return undefined;
    parameters ??= tryToFetch(fetchParameters(client));
    const limit = Number((await parameters)?.get('http.request.header.buffer.size'));
    if (!limit || buffer <= limit) return undefined;
    return {
      reason: `request too large: it needs a request buffer of ${buffer} bytes, and the server has ${limit}; raise http.request.header.buffer.size on the server`,
    };
  };
}

/** What --allow needs for a statement, with the reason; undefined if the statement is part of a schema dump. */
function findNeededAllowance({ kind, verb, runsQuery, replaces }: StatementHead, statement: string) {
  // A dump contains these statements too, but each of them only in one form.
  const what = ['ADD', 'GRANT', 'ASSUME'].includes(verb) ? `this form of ${verb}` : 'it';
  if (kind === 'other' && verb !== 'CREATE')
    return { neededAllowance: verb || 'all', reason: `${what} is not part of a schema dump` };
  if (runsQuery && !isRepairForm(statement))
    return { neededAllowance: 'CTAS', reason: 'it runs a query, which is not part of a schema dump' };
  if (replaces)
    return { neededAllowance: 'REPLACE', reason: 'it may replace a view, which is not part of a schema dump' };
  return undefined;
}

/** A hint with the options that help, as a list; empty if no option helps. */
function formatAllowHint(allowances: readonly string[], pronoun: 'it' | 'them'): string[] {
  const words = allowances.filter(word => word !== ALLOW_PLAN).join();
  const options = [allowances.includes(ALLOW_PLAN) && ALLOW_PLAN, words && `--allow ${words}`].filter(Boolean);
  return options.length > 0 ? [`use ${options.join(' ')} to send ${pronoun}`] : [];
}

export const formatPreflightRejection = ({ reason, neededAllowance }: PreflightRejection): string =>
  [reason, ...formatAllowHint(neededAllowance ? [neededAllowance] : [], 'it')].join('; ');

/** The comment rules of a server of this version, or of all servers if the version is not known. */
const commentRulesOf = (version: string | undefined): readonly ServerCommentRules[] =>
  version === undefined ? SERVER_COMMENT_RULES : [createFeatureCheck({ version })('unpaired quotes') ? '9.3.2' : '9.0'];

const MAX_LISTED = 20;

/** Yields statements until one is rejected. Then only checks the others, and lists all that are rejected. @throws PreflightError */
export async function* requireAllowed(
  statements: AsyncIterable<string>,
  check: PreflightCheck,
  locations: readonly (Location | undefined)[],
): AsyncGenerator<string> {
  const lines: string[] = [];
  const locatedMessages: LocatedMessage[] = [];
  const allowances = new Set<string>();
  let [n, count] = [0, 0];
  for await (const statement of statements) {
    const location = locations[n++];
    const rejection = await check(statement);
    if (!rejection && count === 0) yield statement;
    if (!rejection) continue;
    const { reason, neededAllowance } = rejection;
    if (neededAllowance) allowances.add(neededAllowance);
    if (++count > MAX_LISTED) continue;
    const located = { n, statement, identity: identify(statement), location };
    lines.push(`${formatStatementLabel(located)}: ${reason}`);
    const message = `${formatStatementName(located)}: ${reason}`;
    locatedMessages.push({ ...findLocation(statement, location), message });
  }
  if (count === 0) return;
  const hints = formatAllowHint([...allowances], count === 1 ? 'it' : 'them').map(hint => `hint: ${hint}`);
  if (count > MAX_LISTED) lines.push(`and ${count - MAX_LISTED} more`);
  const [what, listed] = count === 1 ? [lines.join(), []] : [`${count} statements are rejected`, lines];
  throw new PreflightError('REJECTED', `${what}; nothing was sent`, { lines: [...listed, ...hints], locatedMessages });
}

/**
 * Some assertions contain a query, which must be known. About the rows of a materialized view, it is the view's own query. About whether a
 * query can be computed, it is that of a view of the target or of the plan. A WITH before it has such queries, or casts.
 * @param planned the queries of the views of the plan
 */
async function fetchFitsTarget(client: Client, { statement, tables, printFor }: Assertion, planned: ViewQueries) {
  if (!printFor) return true;
  const found = parseWith(statement);
  // A WITH at the start of a line may be the planner's, or belong to the view's own query. So both are tried.
  for (const queries of found.length > 0 ? [found, []] : [found]) {
    const known = await fetchKnownView(client, tables[0], queries, planned);
    if (known && printFor(known).includes(statement)) return true;
  }
  return false;
}

/** What is known of a view by its name. Undefined if a query of WITH is neither that of a view nor a cast. */
async function fetchKnownView(client: Client, name: string, queries: readonly WithQuery[], planned: ViewQueries) {
  const names = [name, ...queries.map(query => query.name)];
  const views = names.flatMap(name => [{ kind: 'materialized view', name } as const, { kind: 'view', name } as const]);
  const statements = await fetchStatements(client, views);
  const found = statements.flatMap(each => (each === undefined ? [] : (findQuery(each)?.body ?? [])));
  const bodies = [...found, ...names.flatMap(each => planned.get(each) ?? [])];
  const isKnown = (query: string) => bodies.some(body => redirectToWith(queries, body) === query);
  if (!queries.every(({ query }) => isCastQuery(query) || isKnown(query))) return undefined;
  const view = statements[0] === undefined ? undefined : tryParseDefinition(statements[0]);
  const existing = view?.kind === 'materialized view' ? { ...view, body: printWith(queries, view.body) } : undefined;
  const columns = existing && (await fetchViewColumns(client, existing.name));
  return { bodies: bodies.map(body => printWith(queries, body)), existing, columns };
}

type ViewQueries = NameMap<string[]>;

export function recordQuery(statement: string, queries: ViewQueries): void {
  const { name = '', body } = (/\bVIEW\b/i.test(statement) && findQuery(statement)) || {};
  if (body !== undefined) addToList(queries, name, body);
}

function findQuery(statement: string): { name: string; body: string } | undefined {
  const definition = tryParseDefinition(statement);
  if (definition && 'body' in definition) return definition;
  const [altered] = parseAlters(statement);
  return altered?.alteration.action === 'query' ? { name: altered.name, body: altered.alteration.body } : undefined;
}
