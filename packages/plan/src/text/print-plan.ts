import { createHash } from 'node:crypto';
import { findAffectedObjects, printDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { Schema, selectWithRelated } from '@sqlpipe/schema';
import {
  foldCase,
  identify,
  isObjectKind,
  type KindAndName,
  NameMap,
  NameSet,
  PLAN_START,
  significantTokens,
} from '@sqlpipe/sql';
import { escapeControls, formatCount } from '@sqlpipe/text';

interface PrintablePlan {
  readonly statements: readonly { readonly statement: string; readonly comments: readonly string[] }[];
  readonly remarks: readonly string[];
}

/** The first statement starts with the head. @param b the statements of the schema that the plan is for */
export function printPlan({ statements, remarks }: PrintablePlan, b: Iterable<string>): string[] {
  const plain = statements.map(({ statement }) => statement);
  const verbs = findVerbsToAllow(plain);
  const needed = verbs.length > 0 ? `; sqlapply needs --allow-plan for ${verbs.join(', ')}` : '';
  // From this line, sqlapply knows whether the plan is still valid, and what --allow-plan allows.
  const state = `plan for state ${computeFingerprint(plain, b)}; ${formatCount(plain.length, 'statement')}${needed}`;
  return statements.map(({ statement, comments }, i) => {
    const head = i === 0 ? [state, ...remarks] : [];
    return [...[...head, ...comments].map(line => `-- ${escapeControls(line)}\n`), statement].join('');
  });
}

/** The values of --allow that sqlapply needs for statements that no dump contains. Assertions need none. */
export function findVerbsToAllow(statements: readonly string[]): string[] {
  const verbs = statements
    .map(identify)
    .flatMap(({ kind, verb }) => (kind === 'other' && verb !== 'SELECT' ? [verb] : []));
  return [...new Set(verbs)].sort();
}

/** Sorted and without duplicates. */
export function findPlannedObjects(statements: readonly string[]): KindAndName[] {
  const found = new Map<string, KindAndName>();
  // In `DROP TABLE T; CREATE TABLE t`, both names mean one object. The first one counts, because it is the target's.
  for (const object of statements.flatMap(findAffectedObjects).reverse())
    if (isObjectKind(object.kind)) found.set(`${foldCase(object.name)} ${object.kind}`, object);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** A hash of the objects that a plan changes and of all views that read them. @param definitions of a schema, at least of these */
export function computeFingerprint(plan: readonly string[], definitions: Iterable<string>): string {
  const schema = new Schema(definitions);
  const planned = findPlannedObjects(plan);
  const names = new NameSet(planned.map(({ name }) => name));
  const isPlanned = ({ kind, name }: KindAndName) => isObjectKind(kind) && names.has(name);
  const readers = selectWithRelated(schema, isPlanned, { withDependents: true })
    .filter(entry => isObjectKind(entry.kind) && !isPlanned(entry))
    .sort((a, b) => (foldCase(a.name) < foldCase(b.name) ? -1 : 1));
  const hash = createHash('sha256');
  for (const { kind, name } of [...planned, ...readers]) {
    const entry = schema.findObject(name);
    const statement = entry?.kind === kind ? entry.statement : '';
    let definition = tryParseDefinition(statement);
    // Without a START in the statement, a timer starts at the time of the server's clock. So the start is no part of the fingerprint.
    if (definition?.kind === 'materialized view')
      definition = { ...definition, refresh: { ...definition.refresh, start: undefined } };
    const text = definition ? printDefinition(definition, { quoted: true }) : statement;
    hash.update(`${kind}\0${foldCase(name)}\0${text}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The comments of the first statement of a plan. */
export interface PlanHead {
  readonly state: string;
  /** The number of its statements. Undefined if the head does not say it; then all statements that follow belong to the plan. */
  readonly count: number | undefined;
  /** The verbs of its statements that no dump contains. */
  readonly verbs: readonly string[];
  readonly irreversible: ReadonlySet<number>;
  /** The new names of the views that the plan drops and creates again, by the old names. */
  readonly renamedViews: NameMap<string>;
  readonly neededAllowances: readonly string[];
}

const STATE = new RegExp(
  `${PLAN_START.source}(?:; ([1-9]\\d*) statements?(?:; sqlapply needs --allow-plan for ([A-Z, ]+))?$)?`,
  'm',
);

/** The comment of a GRANT that gives back what an earlier statement removes. It shows sqlapply which rights a plan relies on. */
export const GIVES_BACK = 'gives back a right that a statement above removes';

/** The verbs that the head of a plan may list besides those of a dump. Anybody can write a head, so no other verb is accepted. */
const PLAN_VERBS: ReadonlySet<string> = new Set('ALTER DROP INSERT REFRESH REMOVE RENAME REVOKE UPDATE'.split(' '));

/** Reads the head of a plan; undefined if the statement is not the first one of a plan. */
export function parsePlanHead(statement: string): PlanHead | undefined {
  const [first] = significantTokens(statement);
  const comments = statement.slice(0, first?.start);
  const [, state, count, verbs = ''] = STATE.exec(comments) ?? [];
  if (state === undefined) return undefined;
  const find = (line: RegExp): string => line.exec(comments)?.[1] ?? '';
  const list = (line: RegExp): string[] => find(line).split(', ').filter(Boolean);
  const renamedViews = find(/^-- renamed views: (.*)$/m).matchAll(/'([^']+)'='([^']+)'/g);
  return {
    state,
    count: count === undefined ? undefined : Number(count),
    verbs: verbs.split(', ').filter(verb => PLAN_VERBS.has(verb)),
    irreversible: new Set(list(/^-- nothing undoes statements? ([\d, ]+)$/m).map(Number)),
    renamedViews: new NameMap([...renamedViews].map(([, from = '', to = '']) => [from, to])),
    // A comma separates two losses only outside quotes, and if a kind follows.
    neededAllowances:
      find(/^-- allowed losses: (.*)$/m).match(/(?<=^|, )[a-z-]+:(?:(?<=[:.])(?:'[^']+'|"[^"]+")|(?!, [a-z-]+:).)+/g) ??
      [],
  };
}
