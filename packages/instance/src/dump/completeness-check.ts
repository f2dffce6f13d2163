/*!
 * Fetches the objects that a dump lacks. SHOW CREATE DATABASE silently leaves out objects that the account may not read. It also leaves
 * out objects that are dropped, renamed or recreated meanwhile (see QuestDB's ShowCreateDatabaseRecordCursorFactory). So the dump is
 * compared with tables(), which lists all objects (observed on 9.3.4).
 */
import { findReferences } from '@sqlpipe/ddl';
import { dumpOrder, Schema } from '@sqlpipe/schema';
import { identify, isAclKind, isObjectKind, isRightKind, KINDS, NameMap, NameSet } from '@sqlpipe/sql';
import type { Client } from '../http/client.js';
import { tryQuery } from '../http/optional-queries.js';
import { fetchAllObjects, type ListedObject } from './fetch-objects.js';
import { fetchUncheckedStatements } from './fetch-statements.js';
import { changingSchemaError, formatTitles, isWanted, type ObjectReadOptions, titleOf } from './unreadable-objects.js';

const MAX_UNLISTED = 1000;

const objectsByName = (objects: readonly ListedObject[]) => new NameMap(objects.map(each => [each.name, each]));

export class CompletenessCheck {
  /** Resolves when the list has arrived, or cannot be fetched. */
  readonly listRequest: Promise<void>;
  #secondListRequest: Promise<void> | undefined;
  /** Why the list could not be fetched. */
  #failure: string | undefined;
  /** The names in the dump before the list arrived. */
  readonly #recordedEarly: string[] = [];
  /** Undefined until the list arrives, or if it cannot be fetched. */
  #missing: MissingObjects | undefined;

  /** Requests the list at once, while the dump is read. @param client used by nobody else until `listRequest` resolves */
  constructor(
    private readonly client: Client,
    private readonly options: ObjectReadOptions,
  ) {
    this.listRequest = this.#requestList();
    this.listRequest.catch(() => {}); // reported where it is awaited, unless the dump has failed before
  }

  /** @returns false if the dump already has the object, because its statement was fetched */
  acceptRow(name: string): boolean {
    if (this.#missing) return this.#missing.acceptRow(name);
    this.#recordedEarly.push(name);
    return true;
  }

  /** Fetches the objects that a statement needs and the dump does not have yet. @returns their statements in dump order */
  async fetchNeeded(statement: string): Promise<string[]> {
    return (await this.#waitForMissing())?.fetchNeeded(statement) ?? [];
  }

  /** Fetches all other objects that the dump lacks. If the schema changes meanwhile, fetches the list again. */
  async fetchOthers(): Promise<string[]> {
    return (await this.#waitForMissing())?.fetchOthers() ?? [];
  }

  /** Without a list, objects that the account may not read would be missing unnoticed. So it is requested once more if there was none. */
  async #waitForMissing(): Promise<MissingObjects | undefined> {
    await this.listRequest;
    this.#secondListRequest ??= this.#missing ? this.listRequest : this.#requestList();
    await this.#secondListRequest;
    return this.#missing;
  }

  reportUnchecked(): void {
    const { unlisted } = this.#missing ?? {};
    if (this.#failure)
      this.options.warn(
        `the dump may lack objects that this account may not read, or that were changed meanwhile, because the server does not list its objects: ${this.#failure}`,
      );
    else if (unlisted?.size)
      this.options.info(
        `the server's list lacks ${formatTitles(Array.from(unlisted, name => titleOf({ kind: 'other', name })))}: either these objects are new, or this account sees only a part of the list, and the dump may be incomplete too`,
      );
  }

  async #requestList(): Promise<void> {
    const list = await this.#fetchList();
    if (!list) return;
    this.#missing = new MissingObjects(list, () => this.#fetchList(), this.client, this.options);
    for (const name of this.#recordedEarly.splice(0)) this.#missing.acceptRow(name);
  }

  async #fetchList(): Promise<NameMap<ListedObject> | undefined> {
    if (!KINDS.some(kind => isObjectKind(kind) && this.options.selects(kind))) return new NameMap(); // access control only
    this.#failure = undefined;
    const list = await tryQuery(fetchAllObjects(this.client), ({ message }) => {
      this.#failure = message;
      return true;
    });
    return list && objectsByName(list.filter(each => isWanted(each, this.options.selects)));
  }
}

/** The objects of a list that the dump lacks. */
class MissingObjects {
  /** The names in the dump that are not in the list. */
  readonly unlisted = new NameSet();
  /** The objects of the list that the dump does not have yet. */
  readonly #pending: NameMap<ListedObject>;
  readonly #fetched = new NameSet();
  /** The names of objects that no longer existed when their definitions were requested. */
  readonly #gone = new NameSet();
  /** Whether the schema has changed since the list was fetched. */
  #hasChanged = false;

  constructor(
    private readonly list: NameMap<ListedObject>,
    private readonly fetchList: () => Promise<NameMap<ListedObject> | undefined>,
    private readonly client: Client,
    private readonly options: ObjectReadOptions,
  ) {
    this.#pending = objectsByName(options.names.selectListed([...list.values()]));
  }

  acceptRow(name: string): boolean {
    // This saves time: if nothing is pending or fetched, and `unlisted` is full, the name changes nothing.
    if (!this.#pending.size && this.unlisted.size === MAX_UNLISTED && !this.#fetched.size) return true;
    if (this.#pending.delete(name)) return true;
    if (!this.list.has(name) && this.unlisted.size < MAX_UNLISTED) this.unlisted.add(name);
    return !this.#fetched.has(name);
  }

  async fetchNeeded(statement: string): Promise<string[]> {
    return this.#pending.size ? this.#fetchWithReferences(this.#pendingReferences(statement)) : [];
  }

  async fetchOthers(): Promise<string[]> {
    const statements: string[] = [];
    for (let refetches = 0; this.#pending.size || this.#hasChanged; refetches++) {
      if (refetches === 6) throw changingSchemaError(this.client);
      statements.push(...(await this.#fetchWithReferences([...this.#pending.values()])));
      if (!this.#hasChanged) break;
      this.#hasChanged = false;
      this.#addRenamedAndRecreated(await this.fetchList());
    }
    return statements;
  }

  #pendingReferences(statement: string): ListedObject[] {
    const isView = (name: string) => this.list.get(name)?.kind === 'view';
    return findReferences(statement, isView).flatMap(name => this.#pending.get(name) ?? []);
  }

  async #fetchWithReferences(objects: readonly ListedObject[]): Promise<string[]> {
    const found: string[] = [];
    for (let wanted = objects; wanted.length; ) {
      const statements = await this.#fetchStatementsOf(wanted);
      found.push(...statements);
      wanted = [...new Set(statements.flatMap(each => this.#pendingReferences(each)))];
    }
    return dumpOrder(new Schema(found)).map(({ statement }) => statement);
  }

  async #fetchStatementsOf(objects: readonly ListedObject[]): Promise<string[]> {
    for (const object of objects) {
      this.#pending.delete(object.name);
      if (object.kind === 'other') this.options.unreadable.addUnknown(object);
    }
    const known = objects.filter(({ kind }) => kind !== 'other');
    if (!known.length) return [];
    const denied = new Set<unknown>();
    const statements = await fetchUncheckedStatements(this.client, known, (object, message) => {
      denied.add(object);
      this.options.unreadable.addDenied(object, message);
    });
    return known.flatMap((object, i) => {
      const statement = statements[i];
      if (denied.has(object)) return [];
      const exists = statement !== undefined;
      (exists ? this.#fetched : this.#gone).add(object.name);
      if (exists && object.kind === 'live view') return statement; // some servers leave out all live views
      this.#hasChanged = true;
      const change = exists ? 'created or replaced' : 'dropped or renamed';
      this.options.info(`${titleOf(object)} was ${change} while the schema was read`);
      return statement ?? [];
    });
  }

  /** Adds the objects of a later list that were renamed (the first list has their ids), or recreated under the same name. */
  #addRenamedAndRecreated(list: NameMap<ListedObject> | undefined): void {
    const ids = new Set<unknown>(Array.from(this.list.values(), ({ id }) => id));
    ids.delete(undefined); // servers before 9.0, and functions other than tables(), give no ids
    const isInDump = (name: string) => this.unlisted.has(name) || this.#fetched.has(name);
    const isNew = (name: string) => (!this.list.has(name) || this.#gone.has(name)) && !isInDump(name);
    const added = [...(list?.values() ?? [])].filter(({ name }) => isNew(name));
    for (const [name, object] of objectsByName(this.options.names.selectListed(added)))
      if (this.#gone.has(name) || ids.has(object.id)) this.#pending.set(name, object);
      else this.options.info(`${titleOf(object)} was created while the schema was read, and is not in the dump`);
  }
}

/** Adds the statements of missing objects to the rows of a dump, each before the rows that need it. */
export async function* addMissingRows(rows: AsyncIterable<string[]>, check: CompletenessCheck) {
  let hasObjects = false;
  for await (const batch of rows) {
    let start = 0;
    for (const [i, row] of batch.entries()) {
      const { kind, name } = identifyRow(row);
      hasObjects ||= isObjectKind(kind);
      let missing: string[] = [];
      if (isObjectKind(kind) && kind !== 'table') missing = await check.fetchNeeded(row);
      else if (hasObjects && isRightKind(kind)) missing = await check.fetchOthers(); // rights come after all objects
      const isKept = !name || isAclKind(kind) || check.acceptRow(name);
      if (isKept && !missing.length) continue;
      yield [...batch.slice(start, i), ...missing];
      start = isKept ? i : i + 1;
    }
    yield start ? batch.slice(start) : batch;
  }
  yield await check.fetchOthers();
  check.reportUnchecked();
}

const TABLE_HEAD = "CREATE TABLE '";

/** Nearly all rows are tables. Without a way of their own, a dump would take 5 percent longer. */
function identifyRow(row: string) {
  if (row.startsWith(TABLE_HEAD))
    return { kind: 'table', name: row.slice(TABLE_HEAD.length, row.indexOf("'", TABLE_HEAD.length)) } as const;
  const { kind, name } = identify(row);
  if (kind !== 'other') return { kind, name };
  const [, unknown = ''] = /^CREATE [A-Z ]+ '([^']+)'/.exec(row) ?? []; // an object of a kind that only a newer server has
  return { kind, name: unknown };
}
