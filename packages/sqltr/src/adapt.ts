import {
  createFeatureCheck,
  type Definition,
  findColumnProperty,
  findMissingFeatures,
  findProperty,
  findReferences,
  type HasFeature,
  isUnderstood,
  locateNamesInRights,
  mayLackFeature,
  ownerOf,
  parseCreateStatement,
  removeOwner,
  repair,
} from '@sqlpipe/ddl';
import { type Entry, splitRights, toUnambiguousEntry } from '@sqlpipe/schema';
import { displayName, identify, isAclKind, isObjectKind, NameSet, type StatementIdentity } from '@sqlpipe/sql';
import { CodedError, formatExcerpt } from '@sqlpipe/text';

interface Adaptation {
  /** Undefined if the statement is left out. */
  readonly statement?: string | undefined;
  /** A sentence for each thing that is lost. */
  readonly losses: readonly string[];
}

export type Adapter = (statement: string) => Adaptation;

export interface LossOptions {
  readonly isLossy: boolean;
  /** Called for each statement with losses, if losses are accepted. */
  readonly warn: (message: string) => void;
}

/**
 * Applies the adapters, and leaves out what reads from a removed object, and rights on one.
 * @throws CodedError at the end, if losses are not accepted
 */
export async function* adaptStatements(
  statements: AsyncIterable<string>,
  adapters: readonly Adapter[],
  { isLossy, warn }: LossOptions,
): AsyncGenerator<NumberedStatement> {
  const leftOut = new NameSet();
  let first: string | undefined;
  let lossy = 0;
  let n = 0;
  for await (const given of statements) {
    n++;
    const entry = toUnambiguousEntry(given);
    let adapted: Adaptation = { statement: given, losses: [] };
    for (const adapter of adapters) {
      if (adapted.statement === undefined) break;
      const { statement, losses } = adapter(adapted.statement);
      adapted = { statement, losses: [...adapted.losses, ...losses] };
    }
    const { statements: kept, losses } = leaveOut(leftOut, entry, adapted);
    if (losses.length > 0) {
      const message = `${formatNumberedStatement(n, entry)}: ${losses.join('; ')}`;
      first ??= message;
      lossy++;
      if (isLossy) warn(message);
    }
    for (const statement of kept) yield { n, statement };
    if (kept.length === 0 && isObjectKind(entry.kind)) leftOut.add(entry.name);
  }
  if (first !== undefined && !isLossy)
    throw new CodedError(
      'REJECTED',
      `${first}${lossy > 1 ? `, and so on for ${lossy - 1} more` : ''}; --lossy accepts that`,
    );
}

/** @returns several statements for a grant of several rights, some of which are left out */
function leaveOut(removed: NameSet, { kind, statement: given }: Entry, { statement, losses }: Adaptation) {
  const source = removed.size > 0 ? findReferences(given).find(name => removed.has(name)) : undefined;
  if (source !== undefined)
    return { statements: [], losses: [`removed, because it reads from '${source}', which is removed`] };
  if (statement === undefined) return { statements: [], losses };
  const findRemoved = (right: string) => locateNamesInRights(right, kind).objects.find(({ name }) => removed.has(name));
  const object = removed.size > 0 ? findRemoved(statement)?.name : undefined;
  if (object === undefined) return { statements: [statement], losses };
  const statements = splitRights(statement).filter(right => !findRemoved(right));
  const loss =
    statements.length === 0
      ? `removed, because it is on '${object}', which is removed`
      : `its rights on '${object}' are removed, because '${object}' is removed`;
  return { statements, losses: [...losses, loss] };
}

export interface NumberedStatement {
  readonly n: number;
  readonly statement: string;
}

/** The name of a statement in messages: `statement 3 (table 'fx_trades')`. */
export const formatNumberedStatement = (n: number, identity: StatementIdentity): string =>
  `statement ${n} (${formatExcerpt(displayName(identity), 200)})`;

const OPEN_SOURCE_LACKS = 'the open source edition has no';

export function toOpenSource(statement: string): Adaptation {
  const { kind } = identify(statement);
  if (isAclKind(kind)) return { losses: [`removed, because ${OPEN_SOURCE_LACKS} access control`] };
  if (kind === 'other' || !/\b(?:owned|storage)\b/i.test(statement)) return { statement, losses: [] };
  if (!isUnderstood(statement, kind)) return { statement, losses: [UNKNOWN_SYNTAX] };
  const named = ownerOf(statement);
  const { statement: kept, losses } =
    kind === 'table' ? translateProperties(statement, createFeatureCheck({})) : { statement, losses: [] };
  if (named === undefined) return { statement: kept, losses };
  return {
    statement: removeOwner(kept),
    losses: [...losses, `OWNED BY ${formatExcerpt(named, 140)} is removed, because ${OPEN_SOURCE_LACKS} owners`],
  };
}

const UNKNOWN_SYNTAX = 'not changed, because its syntax is unknown';

/** Translates a statement for the enterprise edition, where a table has a storage policy instead. */
export function toEnterprise(statement: string): Adaptation {
  const isTable = identify(statement).kind === 'table' && isUnderstood(statement, 'table');
  return isTable
    ? translateProperties(statement, createFeatureCheck({ isEnterprise: true }))
    : { statement, losses: [] };
}

function translateProperties(given: string, hasFeature: HasFeature) {
  const losses: string[] = [];
  const statement = replaceClauses(given, (property, _, { definition }) => {
    const translation = findProperty(property, definition.kind)?.translate?.(definition as Definition, hasFeature);
    if (translation?.loss !== undefined) losses.push(`${translation.loss}, because ${OPEN_SOURCE_LACKS} such stages`);
    return translation?.clause;
  });
  return { statement, losses };
}

/** @param replace receives a property, as a comparison names it, and its clause with the white space before it; undefined keeps it */
function replaceClauses(
  given: string,
  replace: (property: string, text: string, statement: ReturnType<typeof parseCreateStatement>) => string | undefined,
): string {
  const text = repair(given).statement;
  const statement = parseCreateStatement(text);
  let replaced = '';
  let end = 0;
  for (const [property, span] of [...statement.spans].sort(([, a], [, b]) => a.start - b.start)) {
    const now = replace(property, text.slice(span.start, span.end), statement);
    if (now === undefined) continue;
    replaced += text.slice(end, span.start) + now;
    end = span.end;
  }
  return end === 0 ? given : replaced + text.slice(end);
}

/** Adapts statements to a version. @param version such as `9.3`, which means 9.3.0 */
export const toVersion =
  (version: string) =>
  (given: string): Adaptation => {
    const { kind } = identify(given);
    if (!isObjectKind(kind)) return { statement: given, losses: [] };
    if (!isUnderstood(given, kind)) return { statement: given, losses: [UNKNOWN_SYNTAX] };
    if (!mayLackFeature(given, version)) return { statement: given, losses: [] };
    const hasFeature = createFeatureCheck({ version });
    const removed = new Map<string, string>();
    const statement = replaceClauses(given, (property, clause, { kind }) => {
      const { features = [] } = findProperty(property, kind) ?? findColumnProperty(property) ?? {};
      const feature = features.find(({ name, pattern }) => !hasFeature(name) && pattern.test(clause));
      if (feature?.without) removed.set(feature.name, feature.loss ?? `${feature.name} is removed`);
      return feature?.without?.(clause);
    });
    const [missing] = findMissingFeatures(statement, version);
    if (missing) return { losses: [`removed, because QuestDB ${version} has no ${missing}`] };
    const losses = findMissingFeatures(given, version).flatMap(feature =>
      removed.has(feature) ? `${removed.get(feature)}, because QuestDB ${version} has no ${feature}` : [],
    );
    return { statement, losses };
  };
