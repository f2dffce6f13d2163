/*!
 * Rejects queries that a live view cannot have. `scanLiveView` makes the checks of QuestDB's parser. Then
 * `analyzeLiveView` makes those of its compiler. The rules and the messages are those of QuestDB 10, from its source and tests. No server
 * was asked.
 */
import type { Expression, SelectStatement } from '@questdb/sql-parser';
import { findColumn } from '@sqlpipe/ddl';
import {
  type Body,
  catchRejection,
  isKeyword,
  type QueryToken,
  RejectionError,
  splitList,
  tokenizeQuery,
  topLevelIndex,
  unquoteToken,
} from '@sqlpipe/ddl/parser';
import { isSameName } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { MaterializedView, Table } from '../catalogue-objects.js';
import { parseBody } from '../parse/parse-query.js';
import { type NamedWindow, readNamedWindows, readWindowCalls, type Window, type WindowCall } from '../parse/windows.js';
import { analyzeRelation, type Relation } from './analyze-relation.js';
import { columnName, hasAggregate, isNonDeterministic } from './expressions.js';

type Base = (Table | MaterializedView) & { timestamp: string };

type ScannedQuery = ReturnType<typeof scanQuery>;

/** Makes the checks of QuestDB's parser. @returns the parts of the query, for `analyzeLiveView` @throws RejectionError */
export function scanLiveView(body: Body, catalogue: Catalogue): ScannedQuery {
  const query = scanQuery(body);
  const base = catalogue.find(unquoteToken(query.baseToken.text));
  const timestamp = base && 'timestamp' in base ? base.timestamp : undefined;
  if (timestamp !== undefined) for (const window of query.windows) rejectBadOrder(window, timestamp);
  rejectBadAnchors(query);
  rejectUnboundedState(query);
  const leadCall = query.calls.find(({ name }) => name.toLowerCase() === 'lead');
  rejectAt(leadCall, 'lead() is not supported in live views; use lag() for lookback');
  rejectUnboundedReplays(query);
  const anchoredWindow = query.windows.find(({ anchor }) => anchor);
  rejectAt(
    anchoredWindow?.partitionBy.find(item => !isColumnReference(item))?.[0],
    'live view ANCHOR currently requires PARTITION BY to reference base columns directly',
  );
  return query;
}

function rejectAt(part: { readonly start: number } | undefined, problem: string): void {
  if (part) throw new RejectionError(part.start, problem);
}

/** @throws RejectionError for `SELECT *`, and for a query that is not `SELECT … FROM table …` */
function scanQuery(body: Body) {
  const tokens = tokenizeQuery(body.code).map(token => ({ ...token, start: token.start + body.start }));
  // QuestDB compiles the query as a separate text, and counts positions from here.
  const start = tokens[0]?.start ?? body.start;
  const fromIndex = topLevelIndex(tokens, 'from');
  const list = tokens.slice(1, fromIndex < 0 ? undefined : fromIndex);
  const star = splitList(list).find(
    ([first, dot, last]) => first?.text === '*' || (dot?.text === '.' && last?.text === '*'),
  );
  rejectAt(star?.[0], 'wildcard column select is not allowed in live view queries');
  const hasSchema = isKeyword(tokens[fromIndex + 1], 'public') && tokens[fromIndex + 2]?.text === '.';
  const [table, next] = tokens.slice(fromIndex + (hasSchema ? 3 : 1));
  if (fromIndex < 0 || !isKeyword(tokens[0], 'select') || !table || table.text === '(' || next?.text === '(')
    throw new RejectionError(start, 'live view requires a single base table in FROM clause');
  const windows = readNamedWindows(tokens);
  return { tokens, windows, calls: readWindowCalls(tokens, windows), baseToken: table, start };
}

const isColumnReference = (item: readonly QueryToken[]): boolean =>
  (item.length === 1 || (item.length === 3 && item[1]?.text === '.')) && /^["a-z_]/i.test(item.at(-1)?.text ?? '');

const isOrderItemOf = (item: readonly QueryToken[], column: string): boolean => {
  const expression = isKeyword(item.at(-1), 'asc', 'desc') ? item.slice(0, -1) : item;
  const last = expression.at(-1);
  return isColumnReference(expression) && last !== undefined && isSameName(unquoteToken(last.text), column);
};

const isDescending = (item: readonly QueryToken[]): boolean => isKeyword(item.at(-1), 'desc');

/** Where QuestDB reports most errors of a window: at its ANCHOR, or else its first partition column, or else its first order column. */
const positionOf = ({ anchor, partitionBy, orderBy }: Window, otherwise: number): number =>
  anchor?.start ?? partitionBy[0]?.[0]?.start ?? orderBy[0]?.[0]?.start ?? otherwise;

function rejectBadOrder(window: NamedWindow, timestamp: string): void {
  const [first, second] = window.orderBy;
  const rule = 'live view named WINDOW must ORDER BY';
  if (!first?.[0]) throw new RejectionError(positionOf(window, 0), `${rule} ${timestamp}`);
  rejectAt(second?.[0], `${rule} a single column (${timestamp})`);
  if (!isOrderItemOf(first, timestamp)) rejectAt(first[0], `${rule} ${timestamp}`);
  if (isDescending(first)) rejectAt(first[0], `${rule} ${timestamp} ASC`);
}

function rejectBadAnchors({ windows, calls }: ScannedQuery): void {
  const [first, second] = windows.filter(({ anchor }) => anchor);
  for (const window of windows) {
    const { anchor } = window;
    if (second && window !== first) rejectAt(anchor, 'live view supports at most one anchored WINDOW in V1');
    if (window.partitionBy.length === 0) rejectAt(anchor, 'live view anchored WINDOW requires PARTITION BY');
    if (!isDefaultFrame(window) || window.excludesCurrentRow)
      rejectAt(
        anchor,
        'ANCHOR is incompatible with bounded frames; use a separate WINDOW without ANCHOR for ROWS / RANGE windows',
      );
    if (anchor?.expression) rejectBadAnchorExpression(anchor.expression);
  }
  rejectAt(
    calls.find(({ windowName, anchor }) => windowName === undefined && anchor)?.anchor,
    'ANCHOR is only supported on named WINDOW clauses; declare the window with WINDOW <name> AS (...) and reference it from the SELECT',
  );
}

function rejectBadAnchorExpression(expression: readonly QueryToken[]): void {
  const rule = 'ANCHOR EXPRESSION must';
  for (const [i, token] of expression.entries()) {
    if (isCall(expression, i) && isNonDeterministic(token.text))
      rejectAt(token, `${rule} be deterministic; ${token.text}() is not allowed`);
    if (isKeyword(token, 'select')) rejectAt(token, `${rule} not contain subqueries`);
    if (isBindVariable(expression, i)) rejectAt(token, `${rule} not contain bind variables`);
  }
  const isConstant = !expression.some((token, i) => /^["a-z_]/i.test(token.text) && !isCall(expression, i));
  if (isConstant) rejectAt(expression[0], `${rule} not be a constant`);
}

const isCall = (tokens: readonly QueryToken[], index: number): boolean =>
  /^\w+$/.test(tokens[index]?.text ?? '') && tokens[index + 1]?.text === '(';

function isBindVariable(tokens: readonly QueryToken[], index: number): boolean {
  const text = tokens[index]?.text ?? '';
  return /^\$\d+$/.test(text) || text === '?' || (text === ':' && /^[a-z_]/i.test(tokens[index + 1]?.text ?? ''));
}

const isDefaultFrame = ({ frame = 'range', from, to }: Window): boolean =>
  frame === 'range' && from === 'unbounded preceding' && to === 'current row';

/** By the rules of QuestDB 10, the state of `OVER (PARTITION BY sym ORDER BY ts)` may grow without limit. An ANCHOR prevents that. */
const hasUnboundedState = (window: Window): boolean =>
  !window.anchor && window.partitionBy.length > 0 && isDefaultFrame(window);

const isLastValue = ({ name, ignoresNulls }: WindowCall): boolean =>
  name.toLowerCase() === 'last_value' && !ignoresNulls;

/** Whether a call is a `last_value` whose state is one row for each partition. Such a call needs no ANCHOR. */
const keepsLastValue = (call: WindowCall): boolean =>
  isLastValue(call) && call.to === 'current row' && call.orderBy.length > 0 && !call.excludesCurrentRow;

function rejectUnboundedState({ windows, calls }: ScannedQuery): void {
  const unboundedError = (position: number): RejectionError =>
    new RejectionError(
      position,
      'live view unbounded window must have an ANCHOR clause; bare unbounded windows are not supported. ' +
        "Add an ANCHOR to bound per-partition state, e.g. ANCHOR EXPRESSION timestamp_floor('1d', ts)",
    );
  for (const call of calls)
    if (hasUnboundedState(call) && !keepsLastValue(call)) throw unboundedError(positionOf(call, call.start));
  for (const window of windows) {
    if (calls.some(({ windowName }) => windowName === window.name)) continue;
    if (hasUnboundedState(window)) throw unboundedError(positionOf(window, 0));
    rejectAt(
      window.anchor,
      `live view anchored WINDOW '${window.name}' is not referenced by any window function; an ANCHOR bounds the state of the calls over its window, so it has nothing to reset`,
    );
  }
}

const NEED_LATER_ROWS = ['ntile', 'cume_dist', 'percent_rank'];

const ANCHOR_ADVICE =
  "add an ANCHOR to reset per segment, e.g. WINDOW w AS (PARTITION BY <key> ORDER BY <ts> ANCHOR EXPRESSION timestamp_floor('1d', <ts>))";

/** A late row may change the results of all rows after it. QuestDB rejects a call if the number of changed results is not bounded. */
function rejectUnboundedReplays({ calls }: ScannedQuery): void {
  for (const call of calls) {
    const { name, from, anchor } = call;
    const key = name.toLowerCase();
    if (anchor) continue;
    if (['row_number', 'rank', 'dense_rank'].includes(key))
      rejectAt(
        call,
        `live view select cannot use ${name}() without an anchored WINDOW; it has no finite out-of-order influence boundary. ${ANCHOR_ADVICE.replace('add', 'Add')}`,
      );
    const readsFewRows = keepsLastValue(call) || readsRowAtFixedDistance(call);
    if (from !== 'unbounded preceding' || ['lag', ...NEED_LATER_ROWS].includes(key) || readsFewRows) continue;
    rejectAt(
      call,
      `live view select cannot use ${name}() over a frame starting at UNBOUNDED PRECEDING; it has no finite out-of-order ` +
        'influence boundary, so a late row would replay the whole history. Bound the frame, e.g. ROWS BETWEEN 1000 PRECEDING AND ' +
        `CURRENT ROW, or ${ANCHOR_ADVICE}`,
    );
  }
}

/**
 * Whether a call reads one row at a fixed distance. Example: `last_value(x) OVER (… ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)`
 * reads only the row that is 2 before the current row. So a late row changes few results. EXCLUDE CURRENT ROW counts as `1 PRECEDING`,
 * wherever the frame ends.
 */
const readsRowAtFixedDistance = (call: WindowCall): boolean =>
  isLastValue(call) && call.frame === 'rows' && (/^\d+ preceding$/.test(call.to) || call.excludesCurrentRow);

/**
 * Makes the checks of QuestDB's compiler.
 * @throws RejectionError with the compiler's position:
 * - for an unsuitable base: where its name starts
 * - for an error in the query: where the error is, counted from the start of the query
 * - for DISTINCT: 0
 * - for any other unsupported query: where the name of the view starts
 */
export function analyzeLiveView(
  { body, nameStart }: { readonly body: Body; readonly nameStart: number },
  scannedQuery: ScannedQuery,
  catalogue: Catalogue,
): { base: Base; relation: Relation } {
  const query = parseBody(body);
  const base = requireLiveViewBase(scannedQuery, catalogue);
  const relation = catchRejection(() => {
    const fields = analyzeRelation(query, catalogue);
    rejectNonDeterministicCall(scannedQuery);
    rejectBadRanges(scannedQuery, base.timestamp);
    return fields;
  });
  if (relation instanceof RejectionError)
    throw new RejectionError(Math.max(0, relation.position - scannedQuery.start), relation.message);
  const { select } = query;
  const problem =
    findShapeProblem(select, scannedQuery, base) ??
    findFunctionProblem(scannedQuery, base) ??
    findTimestampProblem(select, base);
  if (problem) throw new RejectionError(nameStart, `live view select ${problem}`);
  return { base, relation };
}

function requireLiveViewBase({ baseToken }: ScannedQuery, catalogue: Catalogue): Base {
  const name = unquoteToken(baseToken.text);
  const base = catalogue.compileAndFind(name);
  const baseError = (problem: string) => new RejectionError(baseToken.start, problem);
  if (!base) throw baseError(`base table does not exist [table=${name}]`);
  if (base.kind === 'live view') throw baseError('live views are not allowed as base tables in V1');
  if (base.kind === 'view' || (base.kind === 'table' && !base.wal))
    throw baseError(`base table must be a WAL table [name=${base.name}]`);
  const { timestamp } = base;
  if (timestamp === undefined) throw baseError('live view base table must have a designated timestamp');
  return { ...base, timestamp };
}

/** QuestDB rejects a bind variable with the message for a non-deterministic function. */
function rejectNonDeterministicCall({ tokens }: ScannedQuery): void {
  const found = tokens.find(
    ({ text }, i) => (isCall(tokens, i) && isNonDeterministic(text)) || isBindVariable(tokens, i),
  );
  rejectAt(found, `non-deterministic function cannot be used in live view: ${found?.text}`);
}

function rejectBadRanges({ calls }: ScannedQuery, timestamp: string): void {
  const ranges = calls.filter(({ frame, anchor }) => frame === 'range' && !anchor);
  const unordered = ranges.find(call => !isOrderedOnlyBy(call, timestamp));
  rejectAt(
    unordered?.orderBy[0]?.[0] ?? unordered,
    `live view RANGE window function must ORDER BY the designated timestamp ASC [function=${unordered?.name}()]`,
  );
  const [first, ...others] = ranges.map(call => ({
    ...call,
    partition: call.partitionBy.map(item => item.map(({ text }) => text.toLowerCase()).join('')).join(','),
  }));
  const other = others.find(({ partition }) => partition !== first?.partition);
  rejectAt(
    other,
    `live view RANGE window functions must use the same PARTITION BY and ORDER BY domain [first=${first?.name}(), incompatible=${other?.name}()]`,
  );
}

const isOrderedOnlyBy = ({ orderBy: [first, second] }: Window, timestamp: string): boolean =>
  first !== undefined && second === undefined && isOrderItemOf(first, timestamp) && !isDescending(first);

const CACHE_PROBLEM =
  'may only use window functions that support incremental refresh; this query requires caching or multi-pass evaluation';

/** @returns the end of the message `live view select …`; undefined if the shape is supported @throws RejectionError for DISTINCT */
function findShapeProblem(select: SelectStatement, { calls }: ScannedQuery, base: Base): string | undefined {
  // QuestDB has this message for a union too.
  if (calls.length === 0 || select.setOperations?.length) return 'must contain at least one window function';
  const [from, ...others] = select.from ?? [];
  if (from?.joins?.length || others.length > 0 || select.latestOn || select.sampleBy || select.pivot)
    return 'must be a simple scan of a single WAL base table; joins, subqueries, GROUP BY, ORDER BY and LIMIT are not supported yet';
  if (select.distinct) throw new RejectionError(0, 'Window function is not allowed in context of aggregation');
  const clauseProblem = (clause: string) =>
    `must be a plain windowed scan of the base table; ${clause} over a window function is not supported yet`;
  const hasAggregates = select.columns.some(item => item.type === 'selectItem' && hasAggregate(item.expression));
  if (hasAggregates || select.groupBy?.length) return clauseProblem('GROUP BY');
  if (select.limit) return clauseProblem('LIMIT');
  const sortItems = select.orderBy?.map(item => ({ ...item, column: findOrderedColumn(item.expression, select) }));
  if (sortItems?.some(({ column }) => !isSameName(column, base.timestamp))) return clauseProblem('ORDER BY');
  if (sortItems?.some(({ direction }) => direction?.toLowerCase() === 'desc')) return CACHE_PROBLEM;
  const designated = from?.timestampDesignation;
  if (designated !== undefined && !isSameName(designated, base.timestamp)) return CACHE_PROBLEM;
  return findFilterProblem(select, base);
}

function findOrderedColumn(expression: Expression, { columns }: SelectStatement): string | undefined {
  const name = columnName(expression);
  const aliased = columns.find(item => item.type === 'selectItem' && isSameName(item.alias, name));
  return aliased?.type === 'selectItem' ? columnName(aliased.expression) : name;
}

/** Finds `ts > '2024-01-01'` in `a = 1 AND ts > '2024-01-01'`. Conditions inside OR and functions are not checked. */
function findFilterProblem({ where }: SelectStatement, { timestamp }: Base): string | undefined {
  const conditions = where ? [where] : [];
  for (let condition = conditions.pop(); condition; condition = conditions.pop()) {
    const { left, right, expression } = condition as { left?: Expression; right?: Expression; expression?: Expression };
    if (condition.type === 'binary' && condition.operator.toLowerCase() === 'and')
      conditions.push(condition.left, condition.right);
    else if (condition.type === 'paren') conditions.push(condition.expression);
    else if ([left, right, expression].some(side => side && isSameName(columnName(side), timestamp)))
      return 'cannot filter on the designated timestamp yet';
  }
  return undefined;
}

function findFunctionProblem({ calls }: ScannedQuery, base: Base): string | undefined {
  // Functions that downsample return rows that depend on later rows, too.
  const cached = [...NEED_LATER_ROWS, 'sdt', 'lttb', 'm4', 'minmax', 'uniform', 'cadence'];
  const needsCache = (call: WindowCall): boolean =>
    cached.includes(call.name.toLowerCase()) || (call.orderBy.length > 0 && !isOrderedOnlyBy(call, base.timestamp));
  if (calls.some(needsCache)) return CACHE_PROBLEM;
  const unsupported = calls.find(call => !supportsSnapshot(call, base));
  return (
    unsupported &&
    `cannot use window function ${unsupported.name}(); incremental snapshot is not supported for this function yet`
  );
}

/**
 * Whether QuestDB 10 can save the state of a call. It cannot save the state of:
 * - a window without PARTITION BY, unless its frame starts at the current row
 * - `lag` of a DECIMAL with more than 18 digits
 */
function supportsSnapshot({ name, arguments: given, partitionBy, from }: WindowCall, base: Base): boolean {
  const first = splitList(given)[0]?.at(-1);
  if (partitionBy.length === 0 && from !== 'current row') return false;
  const column = name.toLowerCase() === 'lag' && first ? findColumn(base, unquoteToken(first.text)) : undefined;
  return !(Number(/^DECIMAL\((\d+)/.exec(column?.type ?? '')?.[1]) > 18);
}

function findTimestampProblem({ columns }: SelectStatement, { timestamp }: Base): string | undefined {
  const aliases = columns.flatMap(item =>
    item.type === 'selectItem' && isSameName(columnName(item.expression), timestamp) ? (item.alias ?? timestamp) : [],
  );
  const [alias] = aliases;
  if (alias === undefined) return `must project the base table's designated timestamp '${timestamp}' as a plain column`;
  if (aliases.some(name => isSameName(name, timestamp))) return undefined;
  return `cannot override the designated timestamp; expected '${timestamp}', got '${alias}'`;
}
