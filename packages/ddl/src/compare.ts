/*! Compares what two statements would create on the same server. A property that one of them leaves to the server is not compared. */
import { identify, isObjectKind, isPrincipalKind, isSameName, type Kind, NameMap, redact } from '@sqlpipe/sql';
import { parsePrincipal } from './acl/principal.js';
import { COLUMN_OPTIONS } from './columns/column-properties.js';
import type { StatedColumn } from './columns/column-property.js';
import { parseDefinition } from './create/parse-create.js';
import { type Defaults, type Definition, SERVER_DEFAULTS, type TableDefinition } from './definition.js';
import { catchRejection, RejectionError, tryParse } from './parser/cursor.js';
import { printDefinition } from './print.js';
import { type PropertyName, propertiesOf } from './properties/object-properties.js';
import { OWNER } from './properties/owner.js';
import { COLUMN_ORDER, columnPropertyName, EXPLICIT } from './property.js';
import { findQueryColumns } from './queries/query-columns.js';
import { findQueryDifference } from './queries/query-tokens.js';
import { isCleanTable, repair } from './repair.js';

/** What is known about the server that the statements are for, and about other tables. */
export interface CompareOptions {
  /** The values that the server fills in, by default `SERVER_DEFAULTS`. For a statement in printed form, see `hasBuiltInDefaults`. */
  readonly defaults?: Defaults | undefined;
  /** Finds the statement of a table by its name, to resolve CREATE TABLE … LIKE. */
  readonly findTable?: FindTable;
  /** `findTable` for the second statement, if that belongs to another schema. */
  readonly findTableOfB?: FindTable;
}

type FindTable = (name: string) => string | undefined;

const WHOLE_STATEMENT = 'statement';
const MISSING = 'none';

/** Lists the properties in which two objects or principals of a kind can differ. `*` stands for the name of a column. */
export function listComparedProperties(kind: Kind): PropertyName[] {
  if (isPrincipalKind(kind)) return ['name', 'owner', 'external alias', 'credentials', WHOLE_STATEMENT];
  if (!isObjectKind(kind)) return [];
  const suffixes = ['', ' name', ...COLUMN_OPTIONS.map(({ suffix }) => suffix)] as const;
  const others: PropertyName[] =
    kind === 'table' ? [...suffixes.map(suffix => columnPropertyName('*', suffix)), COLUMN_ORDER] : ['query'];
  return ['name', 'kind', ...others, ...propertiesOf(kind).map(({ name }) => name), WHOLE_STATEMENT];
}

/** Compares two statements by their meaning or, if one is not understood, by their tokens. Misprints of servers are repaired first. */
export function compareStatements(a: string, b: string, options: CompareOptions = {}): Comparison {
  const { findTableOfB } = options;
  // In two schemas, the same name after LIKE may mean different tables.
  if (a === b && !(findTableOfB && /\blike\b/i.test(a))) return newComparison();
  const [{ kind: kindA }, { kind: kindB }] = [identify(a), identify(b)];
  if (isPrincipalKind(kindA) && kindA === kindB) return comparePrincipals(a, b) ?? compareTexts(a, b);
  if (!isObjectKind(kindA) || !isObjectKind(kindB)) return compareTexts(a, b);
  const optionsOfB = findTableOfB ? { ...options, findTable: findTableOfB } : options;
  const [definitionA, definitionB] = [tryParseDefinition(a, options), tryParseDefinition(b, optionsOfB)];
  if (!definitionA || !definitionB) return compareTexts(a, b, formatSyntaxError);
  return compareDefinitions(definitionA, definitionB);
}

/** Repairs and parses a statement, and resolves LIKE. Undefined if the statement creates no object, or if its syntax is unknown. */
export function tryParseDefinition(statement: string, { defaults = SERVER_DEFAULTS, findTable }: CompareOptions = {}) {
  const definition = tryParseUnresolved(statement, defaults);
  if (!findTable || !definition) return definition;
  // The table after LIKE may be LIKE another one. A chain of them may be a cycle.
  const seen = new Set<string>();
  let table: Definition | undefined = definition;
  while (table?.kind === 'table' && table.like !== undefined && !seen.has(table.like)) {
    seen.add(table.like);
    const found = findTable(table.like);
    table = found === undefined ? undefined : tryParseUnresolved(found, defaults);
  }
  if (table?.kind !== 'table' || table === definition || table.like !== undefined) return definition;
  return { ...table, name: definition.name, owner: definition.owner } satisfies Definition;
}

/** Adds every property to a statement that a server printed, if other defaults would change its meaning. */
export function spellOutDefaults(statement: string, defaults: Defaults): string {
  const onSource = tryParseUnresolved(statement, defaults);
  const onTarget = tryParse(() => parseDefinition(statement, defaults));
  const isSame = !onSource || !onTarget || compareDefinitions(onSource, onTarget).differences.length === 0;
  return isSame ? statement : printDefinition(onSource, EXPLICIT);
}

/** As `tryParseDefinition`, without resolving LIKE. */
function tryParseUnresolved(statement: string, defaults: Defaults): Definition | undefined {
  const text = repair(statement).statement;
  return tryParse(() => parseDefinition(text, hasBuiltInDefaults(text, defaults) ? SERVER_DEFAULTS : defaults));
}

/** Whether omitted clauses have the built-in defaults. They do if the server has no other defaults, or has printed the statement. */
function hasBuiltInDefaults(statement: string, defaults: Defaults): boolean {
  if (defaults === SERVER_DEFAULTS || isCleanTable(statement)) return true;
  const definition = tryParse(() => parseDefinition(statement, SERVER_DEFAULTS));
  if (!definition || (definition.kind === 'table' && definition.query !== undefined)) return false;
  const forms = ['9.3', '9.0'] as const;
  return forms.some(form => printDefinition(definition, { form, quoted: true }) === statement);
}

/** Compares two statements of principals. Undefined if one of them contains an unknown clause. */
function comparePrincipals(a: string, b: string): Comparison | undefined {
  const [principalA, principalB] = [parsePrincipal(a), parsePrincipal(b)];
  if (!principalA || !principalB) return undefined;
  const comparison = newComparison();
  compareProperty(comparison, 'name', principalA.name, principalB.name);
  compareProperty(comparison, 'owner', principalA.owner, principalB.owner);
  compareProperty(comparison, 'external alias', principalA.alias ?? MISSING, principalB.alias ?? MISSING);
  compareProperty(comparison, 'credentials', principalA.credentials, principalB.credentials, true);
  const differences = comparison.differences.map(each =>
    each.property === 'credentials' ? { ...each, a: '***', b: '***' } : each,
  );
  return { ...comparison, differences };
}

/** Why the syntax of a statement is unknown, as the start of a text; '' if it is known. */
function formatSyntaxError(statement: string): string {
  const result = catchRejection(() => parseDefinition(repair(statement).statement));
  return result instanceof RejectionError ? `${result.message.trim()}: ` : '';
}

function compareTexts(a: string, b: string, prefix: (statement: string) => string = () => ''): Comparison {
  const comparison = newComparison();
  const found = findQueryDifference(a, b);
  if (found)
    comparison.differences.push({
      property: WHOLE_STATEMENT,
      a: prefix(a) + lineAt(a, found.a),
      b: prefix(b) + lineAt(b, found.b),
    });
  return { ...comparison, isTokenComparison: true };
}

const EXCERPT_WIDTH = 80;

/** The line at an index of a statement, at most `EXCERPT_WIDTH` characters. Secrets become stars that do not show their length. */
function lineAt(text: string, index: number): string {
  const start = Math.max(text.lastIndexOf('\n', index - 1) + 1, index - EXCERPT_WIDTH / 2);
  const [line = ''] = redact(text)
    .slice(start, start + EXCERPT_WIDTH)
    .split('\n', 1);
  return line.trim().replace(/\*{2,}/g, '***');
}

/** A property in which two definitions differ. */
export interface PropertyDifference {
  /** What differs, in the user's words: `dedup keys`, `column 'price'`, `column order`, `query`. */
  readonly property: PropertyName;
  /** The values in A and B as text; `none` in place of a missing one. */
  readonly a: string;
  readonly b: string;
}

/** The result of comparing two statements or definitions. */
export interface Comparison {
  readonly differences: PropertyDifference[];
  /** What could not be compared, and may differ or not: for example, a hidden property that only one definition states. */
  readonly notComparable: string[];
  /** Whether statements were compared by their tokens. */
  readonly isTokenComparison: boolean;
}

const newComparison = (): Comparison => ({ differences: [], notComparable: [], isTokenComparison: false });

/** Compares two definitions property by property. */
export function compareDefinitions(a: Definition, b: Definition): Comparison {
  const comparison = newComparison();
  compareProperty(comparison, 'name', a.name, b.name);
  if (a.kind !== b.kind) compareProperty(comparison, 'kind', a.kind, b.kind);
  else if (likeOf(a) !== undefined || likeOf(b) !== undefined) {
    compareProperty(comparison, 'owner', OWNER.value(a), OWNER.value(b));
    if (!isSameName(likeOf(a), likeOf(b)))
      comparison.notComparable.push('all columns and properties (CREATE TABLE … LIKE)');
  } else {
    if (a.kind === 'table' && b.kind === 'table') compareColumns(toColumnList(a), toColumnList(b), comparison);
    else if (a.kind !== 'table' && b.kind !== 'table') {
      const difference = findQueryDifference(a.body, b.body);
      const excerpts = difference && { a: excerptAround(a.body, difference.a), b: excerptAround(b.body, difference.b) };
      if (excerpts) comparison.differences.push({ property: 'query', ...excerpts }); // two excerpts may be the same
    }
    for (const { name, value, isHidden } of propertiesOf(a.kind))
      compareProperty(comparison, name, value(a), value(b), isHidden);
  }
  return comparison;
}

const likeOf = (definition: Definition) => (definition.kind === 'table' ? definition.like : undefined);

function compareProperty(
  { differences, notComparable }: Comparison,
  property: PropertyName,
  a: string | undefined,
  b: string | undefined,
  isHidden = false,
): void {
  if (a !== undefined && b !== undefined) {
    if (a !== b) differences.push({ property, a, b });
  } else if (isHidden && a !== b) notComparable.push(property);
}

/** The known columns of a table. If `isComplete`, they are all columns, in their order. */
interface ColumnList {
  readonly columns: NameMap<ListedColumn>;
  readonly isComplete: boolean;
}

type ListedColumn = StatedColumn & { readonly name: string };

/** For CREATE TABLE … AS, the columns are those of the query, and other clauses state properties of columns. */
function toColumnList({ columns, query }: TableDefinition): ColumnList {
  const toMap = (list: readonly ListedColumn[]) => new NameMap(list.map(column => [column.name, column]));
  if (query === undefined) return { columns: toMap(columns), isComplete: true };
  const named = findQueryColumns(query);
  // Whether symbols are cached is known only if a CAST states the type.
  const stated = toMap(columns.map(({ cached, ...column }) => (column.type ? { ...column, cached } : column)));
  if (!named) return { columns: stated, isComplete: false };
  const merge = (name: string, type = '') => ({ ...stated.get(name), name, type: stated.get(name)?.type || type });
  return { columns: toMap(named.map(({ name, type }) => merge(name, type))), isComplete: true };
}

function compareColumns(a: ColumnList, b: ColumnList, comparison: Comparison): void {
  const [columnsA, columnsB] = [a.columns, b.columns];
  for (const [key, column] of columnsA) {
    const other = columnsB.get(key);
    if (other && a.isComplete && b.isComplete)
      compareProperty(comparison, columnPropertyName(column.name, ' name'), column.name, other.name);
    if (other) compareColumn(column, other, comparison);
    else if (b.isComplete)
      compareProperty(comparison, columnPropertyName(column.name), column.type || 'present', MISSING);
  }
  if (a.isComplete)
    for (const [key, column] of columnsB)
      if (!columnsA.has(key))
        compareProperty(comparison, columnPropertyName(column.name), MISSING, column.type || 'present');
  if (!a.isComplete || !b.isComplete) {
    comparison.notComparable.push('the columns of its query');
    return;
  }
  // Of the order of common columns, equal columns at the start and at the end of both lists are not shown.
  const namesA = [...columnsA.keys()].filter(key => columnsB.has(key));
  const namesB = [...columnsB.keys()].filter(key => columnsA.has(key));
  const isMoved = (name: string, index: number) => !isSameName(name, namesB[index]);
  const [first, end] = [namesA.findIndex(isMoved), namesA.findLastIndex(isMoved) + 1];
  if (first < 0) return;
  compareProperty(comparison, COLUMN_ORDER, namesA.slice(first, end).join(', '), namesB.slice(first, end).join(', '));
}

function compareColumn(a: ListedColumn, b: ListedColumn, comparison: Comparison): void {
  if (!a.type || !b.type) comparison.notComparable.push(columnPropertyName(a.name, ' type'));
  else if (a.type !== b.type) return compareProperty(comparison, columnPropertyName(a.name), a.type, b.type);
  for (const { suffix, value, isHidden } of COLUMN_OPTIONS)
    compareProperty(comparison, columnPropertyName(a.name, suffix), value(a), value(b), isHidden);
}

const EXCERPT_CONTEXT = 40;

function excerptAround(query: string, index: number): string {
  const start = Math.max(0, index - EXCERPT_CONTEXT / 2);
  const piece = query.slice(start, index + EXCERPT_CONTEXT).replace(/\s+/g, ' ');
  return `${start > 0 ? '…' : ''}${piece}${index + EXCERPT_CONTEXT < query.length ? '…' : ''}`;
}
