/*!
 * Prints a plan as the statements of a stream, with their costs in comments. The first one also names the planned
 * state.
 */
import { createHash } from 'node:crypto';
import { type Definition, parseMeaning, printDefinition } from '@sqlpipe/ddl';
import { Schema } from '@sqlpipe/schema';
import { displayName, foldCase, identify, isObject, type Kind, significantTokens } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import type { Plan } from '../assemble-plan.js';
import type { Omission } from '../draft.js';
import { formatLoss } from '../losses.js';
import { formatPathForShell } from '../object-path.js';
import { changedObjects } from './changed-objects.js';
import { parseNewNames } from './history.js';

/** The kind and name of an object. */
export interface PlannedObject {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * Prints the statements of a plan. The first one starts with `-- plan for state …; 5 statements with ALTER, DROP: …`, from
 * which sqlapply knows whether the plan is still valid, and what --allow-plan allows.
 * @param b the statements of the schema that the plan is for
 */
export function printPlan({ statements, remarks }: Plan, b: Iterable<string>): string[] {
  const schema = new Schema(b);
  const findStatement = ({ kind, name }: PlannedObject): string | undefined => {
    const entry = schema.findObject(name);
    return entry?.kind === kind ? entry.statement : undefined;
  };
  const plain = statements.map(({ statement }) => statement);
  const objects = plannedObjects(plain);
  const state = fingerprint(objects, objects.map(findStatement));
  const permissions = requiredPermissions(plain);
  const needs =
    permissions.length > 0
      ? `; ${plain.length} ${plain.length === 1 ? 'statement' : 'statements'} with ${permissions.join(', ')}: sqlapply needs --allow-plan`
      : '';
  return statements.map(({ statement, costs }, i) => {
    const head = i === 0 ? [`plan for state ${state}${needs}`, ...remarks] : [];
    return [...[...head, ...costs].map(line => `-- ${escapeControls(line)}\n`), statement].join('');
  });
}

/** The lines of a message: `table 'trades': left out: DROP COLUMN qty`, then why, then what can be done. All losses have to be allowed. */
export function describeOmission({
  identity,
  what,
  reasons,
  losses = [],
  hints = [],
}: Omission): [string, ...string[]] {
  const names = [...new Set(losses.map(formatLoss))];
  return [
    `${displayName(identity)}: left out: ${what}`,
    ...reasons,
    ...hints.map(hint => `hint: ${hint}`),
    ...names.map((name, i) => `${i === 0 ? 'hint:' : '     '} --allow-loss ${formatPathForShell(name)}`),
  ];
}

/** The values of --allow that sqlapply needs for statements that no schema dump contains. Assertions need none. */
export function requiredPermissions(statements: readonly string[]): string[] {
  const verbs = statements
    .map(identify)
    .flatMap(({ kind, verb }) => (kind === 'other' && verb !== 'SELECT' ? [verb] : []));
  return [...new Set(verbs)].sort();
}

/** The comments before a statement. */
function commentsOf(statement: string): string {
  const [first] = significantTokens(statement);
  return statement.slice(0, first?.start);
}

const HEAD = /^-- plan for state ([0-9a-f]+)\b(?:; (\d+) statements? with ([A-Z, ]+):)?/m;

const parseHead = (statement: string): RegExpExecArray | null => HEAD.exec(commentsOf(statement));

/** The state that a plan is for, if the statement is the first one of a plan. */
export const plannedState = (statement: string): string | undefined => parseHead(statement)?.[1];

/** The number of statements of a plan, and the verbs of those that no dump contains, according to its first statement. */
export function plannedPermissions(statement: string): { count: number; verbs: string[] } {
  const [, , count = '0', verbs = ''] = parseHead(statement) ?? [];
  return { count: Number(count), verbs: verbs.split(', ').filter(verb => PLAN_VERBS.has(verb)) };
}

/** What plans do beside what a dump contains. The head of a plan is a text that anybody can write, so it can list no more. */
const PLAN_VERBS: ReadonlySet<string> = new Set('ALTER DROP INSERT REFRESH REMOVE RENAME REVOKE UPDATE'.split(' '));

/** What a line in the head of a plan lists; empty without such a line, or if the statement is not the first one of a plan. */
function plannedLine(statement: string, line: RegExp): string {
  const [, list = ''] = (plannedState(statement) !== undefined && line.exec(commentsOf(statement))) || [];
  return list;
}

/** The losses that were allowed when a plan was made, if the statement is the first one of a plan. */
export const plannedLosses = (statement: string): string[] =>
  plannedLine(statement, /^-- allowed losses: (.*)$/m)
    .split(', ')
    .filter(Boolean);

/** The new names of the materialized views that a plan drops and creates again, by the old names in lower case. */
export const plannedViewNames = (statement: string): ReadonlyMap<string, string> =>
  parseNewNames(plannedLine(statement, /^-- renamed views: (.*)$/m));

/** The numbers of the statements of a plan that nothing undoes, if the statement is the first one of a plan. */
export function plannedIrreversible(statement: string): ReadonlySet<number> {
  const list = plannedLine(statement, /^-- nothing undoes statements? ([\d, ]+)$/m);
  return new Set(list.split(', ').filter(Boolean).map(Number));
}

/** The objects that statements create, change or drop, sorted and without duplicates. */
export function plannedObjects(statements: readonly string[]): PlannedObject[] {
  const found = new Map<string, PlannedObject>();
  // The first spelling stays: it is the target's if a DROP precedes a CREATE.
  for (const object of statements.flatMap(changedObjects).reverse())
    if (isObject(object.kind)) found.set(`${foldCase(object.name)} ${object.kind}`, object);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** Without the time at which a timer starts: unless it is stated, it is that of the server's clock. */
const withoutStart = (definition: Definition): Definition =>
  definition.kind === 'materialized view'
    ? { ...definition, refresh: { ...definition.refresh, start: undefined } }
    : definition;

/**
 * A hash that is the same for the same definitions.
 * @param statements the statements that create the objects; undefined for an object that does not exist
 */
export function fingerprint(objects: readonly PlannedObject[], statements: readonly (string | undefined)[]): string {
  const hash = createHash('sha256');
  for (const [i, { kind, name }] of objects.entries()) {
    const statement = statements[i];
    const definition = statement === undefined ? undefined : parseMeaning(statement);
    const text = definition ? printDefinition(withoutStart(definition), { quoted: true }) : (statement ?? '');
    hash.update(`${kind}\0${foldCase(name)}\0${text}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}
