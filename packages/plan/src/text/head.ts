/*! The head of a plan: the comments of its first statement. */
import { NameMap, PLAN_START, significantTokens } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';

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

/** Formats the line with the state. From it, sqlapply knows whether the plan is still valid, and what --allow-plan allows. */
export function formatState(state: string, count: number, verbs: readonly string[]): string {
  const needed = verbs.length > 0 ? `; sqlapply needs --allow-plan for ${verbs.join(', ')}` : '';
  return `plan for state ${state}; ${formatCount(count, 'statement')}${needed}`;
}

const STATE = new RegExp(
  `${PLAN_START.source}(?:; ([1-9]\\d*) statements?(?:; sqlapply needs --allow-plan for ([A-Z, ]+))?$)?`,
  'm',
);

interface Remarks {
  readonly version: string | undefined;
  /** A line for each table, see `formatWork`. */
  readonly work: readonly string[];
  readonly irreversible: readonly number[];
  readonly idleTables: readonly string[];
  readonly renamedViews: NameMap<string>;
  readonly neededAllowances: readonly string[];
}

export const formatRemarks = ({
  version = '',
  work,
  irreversible,
  idleTables,
  renamedViews,
  neededAllowances,
}: Remarks): string[] => [
  ...(/^9\.3\.|^$/.test(version)
    ? []
    : [`made for QuestDB ${version} by the rules of 9.3: try it on a copy of the instance first`]),
  ...work,
  ...formatList(irreversible.length === 1 ? 'nothing undoes statement ' : 'nothing undoes statements ', irreversible),
  ...idleTables.map(name => `nothing may write to '${name}' while this plan is applied`),
  ...formatList(
    'renamed views: ',
    [...renamedViews].map(([from, to]) => `'${from}'='${to}'`),
  ),
  ...formatList('allowed losses: ', neededAllowances),
];

const formatList = (start: string, list: readonly unknown[]): string[] =>
  list.length > 0 ? [start + list.join(', ')] : [];

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
