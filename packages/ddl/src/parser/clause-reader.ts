import { type LocatedName, NameMap, type ObjectKind } from '@sqlpipe/sql';
import type {
  Column,
  Definition,
  LiveViewDefinition,
  MaterializedViewDefinition,
  TableDefinition,
  ViewDefinition,
} from '../definition.js';
import type { FeatureName } from '../features.js';
import type { Body } from './body.js';
import { type Cursor, isWord, RejectionError, unexpectedTokenError } from './cursor.js';
import type { ServerTraits } from './lookup.js';
import type { CreatedName } from './names.js';

export interface CreateContext extends ServerTraits {
  /** Maximum time IN MEMORY of a live view, in microseconds; no limit if undefined. */
  readonly maxInMemory?: number;
  /** Finds the base table of a query. @throws RejectionError for what the server's parser rejects at this point */
  readonly findBase?: (body: Body, given: LocatedName | undefined) => LocatedName;
}

export interface ClauseSpan {
  /** `[start, end)` includes the white space and the comments before the clause. */
  readonly start: number;
  readonly end: number;
  /** The position of a rejection of its value. */
  readonly position: number;
}

/** By the name of a property: `partitioning`, `column 'x' index`. */
export type ClauseSpans = ReadonlyMap<string, ClauseSpan>;

export class Columns extends NameMap<Column> {
  add(column: Column, position: number): Column {
    if (this.has(column.name)) throw new DuplicateColumnError(column.name, position);
    this.set(column.name, column);
    return column;
  }

  /** Adds a column of the query. Unless a CAST states its type, the server does not cache its symbols. */
  addOfQuery(name: string): Column {
    return this.add({ name, type: '', cached: false, dedup: false }, 0);
  }
}

export class DuplicateColumnError extends RejectionError {
  constructor(name: string, position: number) {
    super(position, `Duplicate column [name=${name}]`);
  }
}

type StatedClauses = Partial<
  Omit<TableDefinition, 'kind' | 'columns'> &
    Omit<MaterializedViewDefinition, 'kind'> &
    Omit<LiveViewDefinition, 'kind'>
> & { readonly kind: ObjectKind };

/** A parsed CREATE, not yet checked against a catalogue. */
export interface CreateOf<D extends Definition> {
  readonly type: 'create';
  readonly kind: D['kind'];
  /** The definition as stated. It lacks what a server derives from the query, and LIKE is not resolved. */
  readonly definition: D;
  readonly nameStart: number;
  readonly ifNotExists: boolean;
  readonly orReplace: boolean;
  readonly spans: ClauseSpans;
  readonly body: D extends TableDefinition ? Body | undefined : Body;
  /** The columns of a table. If the table has a query: the columns that CAST, INDEX and DEDUP name. */
  readonly columns: Columns;
  readonly clauseNames: ClauseReader['clauseNames'];
  /** The table after LIKE. */
  readonly like?: LocatedName;
  /** The base of a materialized view, if the statement names it or `findBase` found it. */
  readonly base?: LocatedName | undefined;
}

export type CreateStatement =
  | CreateOf<TableDefinition>
  | CreateOf<ViewDefinition>
  | CreateOf<MaterializedViewDefinition>
  | CreateOf<LiveViewDefinition>;

/** How the clause of a property is read. F has its fields in a definition. */
export interface Clause<F extends object = object> {
  /** In the user's words, as a comparison and `--ignore` name it: `partitioning`, `dedup keys`. */
  readonly name: string;
  /** The possible first words of the clause in CREATE. */
  readonly words?: readonly string[];
  /** A server without this feature has neither the clause nor the ALTER of the property. By default, every server has them. */
  readonly feature?: FeatureName;
  /** Parses the clause after its first word. Sets `reader.position` if the value is not rejected at its last token. */
  parse?(reader: ClauseReader): Partial<F>;
  /** What a CREATE without the clause states. */
  whenAbsent?(reader: ClauseReader): Partial<F>;
  /** Checks the value against other clauses. @throws RejectionError at the position of the value */
  check?(definition: Partial<F>, position: number, context: CreateContext): void;
}

/** Reads the clauses of one statement. `token` is the next token, already read. */
export class ClauseReader {
  definition: StatedClauses;
  readonly spans = new Map<string, ClauseSpan>();
  token: string | undefined;
  /** What must come next, in the wording of the server's message; undefined if the statement may end. */
  expected: string | undefined;
  /** The position of a rejection of the value of the current clause; by default, its last token. */
  position: number | undefined;
  /** The names in clauses. `covered` has the columns that an index covers, by the indexed column. */
  readonly clauseNames: Readonly<Record<'cast' | 'index' | 'dedup' | 'stages', LocatedName[]>> & {
    readonly covered: NameMap<LocatedName[]>;
  } = { cast: [], index: [], dedup: [], stages: [], covered: new NameMap() };

  /** The columns that clauses may name. */
  readonly columns = new Columns();

  /** @param isQuery whether a query has further columns */
  constructor(
    readonly cursor: Cursor,
    readonly context: CreateContext,
    kind: StatedClauses['kind'],
    readonly isQuery = false,
  ) {
    this.definition = { kind };
  }

  advance(): void {
    this.token = this.expected === undefined ? this.cursor.next() : this.cursor.require(this.expected);
  }

  /**
   * Reads the clause of a property and the token after it; false if the clause is absent.
   * @param duplicate if the clause may have several places, the message for a second one; then `check` checks its value
   */
  accept(property: Clause, duplicate?: string): boolean {
    const { name, words = [], feature } = property;
    if (!words.some(word => isWord(this.token, word)) || (feature && !this.context.hasFeature(feature))) {
      Object.assign(this.definition, property.whenAbsent?.(this));
      return false;
    }
    if (duplicate !== undefined && this.spans.has(name)) throw this.cursor.error(duplicate);
    const start = this.cursor.previousEnd;
    this.position = undefined;
    Object.assign(this.definition, property.parse?.(this));
    const { position = this.cursor.start } = this;
    if (duplicate === undefined) property.check?.(this.definition, position, this.context);
    this.advance();
    this.spans.set(name, { start, end: this.cursor.previousEnd, position });
    return true;
  }

  /** Records a clause that ended before the last token. */
  addSpan(name: string, start: number): void {
    this.spans.set(name, { start, end: this.cursor.previousEnd, position: start });
  }

  check({ name, check }: Clause): void {
    const span = this.spans.get(name);
    if (span) check?.(this.definition, span.position, this.context);
  }

  expectEnd(): void {
    if (this.token !== undefined && this.token !== ';') throw unexpectedTokenError(this.cursor.start, this.token);
    if (this.token === ';') expectOnlySemicolons(this.cursor);
  }

  /** The parsed statement without its query. @param stated its definition without its name */
  toStatement<K extends ObjectKind, D>(kind: K, { name, start, ifNotExists }: CreatedName, stated: D) {
    const { spans, columns, clauseNames } = this;
    const statement = { type: 'create' as const, kind, definition: { ...stated, kind, name } };
    return { ...statement, nameStart: start, ifNotExists, orReplace: false, spans, columns, clauseNames };
  }
}

export function expectOnlySemicolons(cursor: Cursor): void {
  for (let token = cursor.next(); token !== undefined; token = cursor.next())
    if (token !== ';') throw unexpectedTokenError(cursor.start, token);
}
