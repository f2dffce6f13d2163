/*! Parses the known forms of statements that change existing objects: ALTER, DROP, RENAME and others. */
import type { Kind } from '@sqlpipe/sql';
import type { Alter, Alteration } from './alteration.js';
import type { Column, Defaults, Index } from './definition.js';
import { DEFAULTS } from './definition.js';
import { expectEndOfBody, parseViewBody } from './grammar/body.js';
import { parseIndexCapacity, parseIndexType, parseSymbolCapacity } from './grammar/columns.js';
import { parseInterval } from './grammar/create-table.js';
import { Cursor, isWord } from './grammar/cursor.js';
import { stripPublic, unquote } from './grammar/names.js';
import { parseInt32 } from './grammar/numbers.js';
import { parseParquet } from './grammar/parquet.js';
import { parseTtl } from './grammar/partition.js';
import { parseSetRefresh } from './grammar/refresh.js';
import { RejectionError } from './grammar/rejection-error.js';
import { parseStoragePolicy } from './grammar/storage-policy.js';
import { parseColumnType } from './grammar/types.js';

/** A statement that changes, fills or refreshes an existing object. Names are as written. */
export type Change =
  | { readonly verb: 'alter'; readonly alters: readonly Alter[] }
  | { readonly verb: 'drop'; readonly kind: Kind; readonly name: string }
  | { readonly verb: 'rename'; readonly name: string; readonly to: string }
  /** A change of some or all rows; the effect on materialized views over the table is the same. */
  | { readonly verb: 'truncate' | 'update' | 'drop partition' | 'insert'; readonly name: string }
  | { readonly verb: 'refresh'; readonly name: string; readonly isFull: boolean };

/** Parses a statement that changes an existing object; undefined for another statement, or an unknown syntax. */
export function parseChange(statement: string, defaults: Defaults = DEFAULTS): Change | undefined {
  const parser = new Parser(new Cursor(statement), defaults);
  try {
    return parser.read();
  } catch (error) {
    if (error instanceof RejectionError) return undefined;
    throw error;
  }
}

const UNKNOWN_SYNTAX = new RejectionError(0, 'not known');

class Parser {
  constructor(
    readonly cursor: Cursor,
    readonly defaults: Defaults,
  ) {}

  read(): Change | undefined {
    const verb = this.cursor.next()?.toLowerCase();
    const change = this.#byVerb(verb);
    if (change) this.cursor.expectEnd();
    return change;
  }

  #byVerb(verb: string | undefined): Change | undefined {
    switch (verb) {
      case 'alter':
        return this.#alter();
      case 'drop':
        return this.#drop();
      case 'rename': {
        this.cursor.expect('table');
        const name = this.#name();
        this.cursor.expect('to');
        return { verb, name, to: this.#name() };
      }
      case 'truncate': {
        this.cursor.expect('table');
        this.#accept('if', 'exists');
        return { verb, name: this.#name() };
      }
      case 'refresh': {
        this.cursor.expect('materialized');
        this.cursor.expect('view');
        const name = this.#name();
        const isFull = this.#accept('full');
        if (!isFull && !this.#accept('incremental')) return undefined;
        return { verb, name, isFull };
      }
      case 'update':
        return this.#skipRest({ verb, name: this.#name() });
      case 'insert':
        this.#accept('atomic');
        this.cursor.expect('into');
        return this.#skipRest({ verb, name: this.#name() });
      default:
        return undefined;
    }
  }

  #skipRest(change: Change): Change {
    while (this.cursor.next() !== undefined);
    return change;
  }

  #drop(): Change | undefined {
    const kind = this.#kind();
    if (!kind) return undefined;
    this.#accept('if', 'exists');
    return { verb: 'drop', kind, name: this.#name() };
  }

  #kind(): Kind | undefined {
    const kinds: [Kind, string, ...string[]][] = [
      ['table', 'table'],
      ['view', 'view'],
      ['materialized view', 'materialized', 'view'],
      ['live view', 'live', 'view'],
      ['user', 'user'],
      ['group', 'group'],
      ['service account', 'service', 'account'],
    ];
    return kinds.find(([, first, ...rest]) => this.#accept(first, ...rest))?.[0];
  }

  #alter(): Change | undefined {
    if (this.#accept('view')) {
      const name = this.#name();
      this.cursor.expect('as');
      const body = parseViewBody(this.cursor, () => {});
      expectEndOfBody(this.cursor, body);
      return singleAlter({ kind: 'view', name, alteration: { change: 'query', body: body.text } });
    }
    if (this.#accept('materialized', 'view')) {
      const name = this.#name();
      this.cursor.expect('set');
      return singleAlter({ kind: 'materialized view', name, alteration: this.#setOfMaterializedView() });
    }
    if (!this.#accept('table')) return undefined;
    const name = this.#name();
    if (this.#accept('drop', 'partition')) return this.#skipRest({ verb: 'drop partition', name });
    const alters = this.#alterTable().map(alteration => ({ kind: 'table' as const, name, alteration }));
    return { verb: 'alter', alters };
  }

  #setOfMaterializedView(): Alteration {
    if (this.#accept('ttl')) return { change: 'ttl', ttl: parseTtl(this.cursor).ttl };
    this.cursor.expect('refresh');
    const refresh = parseSetRefresh(this.cursor);
    if (!refresh || refresh.period === 'sample by interval') throw UNKNOWN_SYNTAX;
    return { change: 'refresh', refresh: { ...refresh, period: refresh.period } };
  }

  #alterTable(): Alteration[] {
    const { cursor } = this;
    const verb = cursor.require('verb').toLowerCase();
    switch (verb) {
      case 'add':
        this.#accept('column');
        return this.#list(() => this.#added());
      case 'drop':
        if (this.#accept('storage', 'policy')) return [{ change: 'storage policy', policy: undefined }];
        cursor.expect('column');
        return this.#list(() => ({ change: 'drop column', column: this.#column() }));
      case 'rename':
        cursor.expect('column');
        return this.#list(() => {
          const column = this.#column();
          cursor.expect('to');
          return { change: 'rename column', column, to: this.#column() };
        });
      case 'alter':
        cursor.expect('column');
        return [this.#alterColumn(this.#column())];
      case 'set':
        return [this.#set()];
      case 'dedup':
      case 'deduplicate':
        return [this.#dedup()];
      default:
        throw UNKNOWN_SYNTAX;
    }
  }

  #added(): Alteration {
    const { cursor } = this;
    this.#accept('if', 'not', 'exists');
    const name = this.#column();
    const type = parseColumnType(cursor, cursor.require('type'));
    const column: Column = { name, type, cached: type !== 'SYMBOL' || this.defaults.symbolCached, dedup: false };
    if (type === 'SYMBOL') {
      if (this.#accept('capacity')) column.capacity = parseSymbolCapacity(cursor);
      if (this.#accept('nocache')) column.cached = false;
      else if (this.#accept('cache')) column.cached = true;
      if (this.#accept('index')) column.index = this.#index();
    }
    this.#accept('not', 'null') || this.#accept('null');
    if (this.#accept('owned', 'by')) return { change: 'add column', column, owner: this.#name() };
    return { change: 'add column', column };
  }

  #index(): Index {
    if (this.#accept('type')) return parseIndexType(this.cursor, this.defaults);
    const capacity = this.#accept('capacity') ? parseIndexCapacity(this.cursor) : this.defaults.indexCapacity;
    return { type: 'BITMAP', capacity };
  }

  #alterColumn(column: string): Alteration {
    const { cursor } = this;
    if (this.#accept('add', 'index')) return { change: 'add index', column, index: this.#index() };
    if (this.#accept('drop', 'index')) return { change: 'drop index', column };
    if (this.#accept('cache')) return { change: 'cache', column, cached: true };
    if (this.#accept('nocache')) return { change: 'cache', column, cached: false };
    if (this.#accept('symbol', 'capacity'))
      return { change: 'symbol capacity', column, capacity: parseSymbolCapacity(cursor) };
    if (this.#accept('set', 'parquet')) return { change: 'parquet settings', column, parquet: this.#parquet() };
    cursor.expect('type');
    const type = parseColumnType(cursor, cursor.require('type'));
    let cached = true;
    if (type === 'SYMBOL') {
      if (this.#accept('capacity')) parseSymbolCapacity(cursor);
      cached = !this.#accept('nocache');
      this.#accept('cache');
    }
    return { change: 'type', column, type, cached };
  }

  /**
   * Accepts the encodings of any type, because the column's type is unknown: INT and STRING together accept all of
   * them.
   */
  #parquet(): string {
    const { cursor } = this;
    const start = cursor.end;
    try {
      return parseParquet(cursor, 'INT');
    } catch (error) {
      if (!(error instanceof RejectionError)) throw error;
      cursor.seek(start);
      return parseParquet(cursor, 'STRING');
    }
  }

  #set(): Alteration {
    const { cursor } = this;
    if (this.#accept('ttl')) return { change: 'ttl', ttl: parseTtl(cursor).ttl };
    if (this.#accept('format')) return { change: 'format', parquet: isWord(cursor.require('format'), 'parquet') };
    if (this.#accept('storage')) return { change: 'storage policy', policy: parseStoragePolicy(cursor, 'HOUR') };
    cursor.expect('param');
    const name = cursor.require('name').toLowerCase();
    cursor.expect('=');
    const value = cursor.require('value');
    if (name === 'o3maxlag') return { change: 'parameter', name: 'o3MaxLag', value: parseInterval(value, cursor.at) };
    const rows = parseInt32(value);
    if (name !== 'maxuncommittedrows' || rows === undefined) throw UNKNOWN_SYNTAX;
    return { change: 'parameter', name: 'maxUncommittedRows', value: rows };
  }

  #dedup(): Alteration {
    if (this.#accept('disable')) return { change: 'dedup keys', keys: [] };
    this.#accept('enable');
    for (const word of ['upsert', 'keys', '(']) this.cursor.expect(word);
    const keys = this.#list(() => this.#column());
    this.cursor.expect(')');
    return { change: 'dedup keys', keys };
  }

  #list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.#accept(',')) items.push(item());
    return items;
  }

  #name(): string {
    return unquote(stripPublic(this.cursor, this.cursor.require('name')));
  }

  #column(): string {
    return unquote(this.cursor.require('column name'));
  }

  /** Skips words if they come next; returns whether they did. */
  #accept(first: string, ...rest: string[]): boolean {
    const { cursor } = this;
    if (!isWord(cursor.next(), first)) {
      cursor.unread();
      return false;
    }
    const start = cursor.at;
    if (rest.every(word => isWord(cursor.next(), word))) return true;
    cursor.seek(start);
    return false;
  }
}

const singleAlter = (alter: Alter): Change => ({ verb: 'alter', alters: [alter] });
