/*! Others may change objects while a plan is applied. A statement is sent only if what it changes or reads is as the plan left it. */
import { compareStatements, findReferences } from '@sqlpipe/ddl';
import { type Client, fetchAllObjects, fetchIds, fetchStatements, InstanceError } from '@sqlpipe/instance';
import { type Assertion, findPlannedObjects, parseAssertion } from '@sqlpipe/plan/text';
import { displayName, identify, isObjectKind, type KindAndName, kindAndNameKey, NameMap, NameSet } from '@sqlpipe/sql';
import { GrantGuard } from './grant-guard.js';
import { SourceRowGuard } from './source-row-guard.js';

const findNames = (statements: readonly string[]): NameSet =>
  new NameSet(statements.flatMap(each => findReferences(each)));

interface GuardedObject extends KindAndName {
  /** As the plan left it; undefined if there is no such object. */
  readonly statement: string | undefined;
  /** A recreated object has another id, however equal its statement. Undefined if the server shows none. */
  readonly id: unknown;
}

export class PlanGuard {
  readonly #objects = new Map<string, GuardedObject>();
  readonly #grantGuard: GrantGuard;
  readonly #sourceRowGuard: SourceRowGuard;
  /** By the index of the statement; undefined for any other statement. */
  readonly #assertions: readonly (Assertion | undefined)[];

  /** @param inputStatements a plan, and what follows it in the input */
  constructor(
    private readonly client: Client,
    private readonly inputStatements: readonly string[],
  ) {
    this.#grantGuard = new GrantGuard(client, inputStatements);
    this.#sourceRowGuard = new SourceRowGuard(client);
    this.#assertions = inputStatements.map(parseAssertion);
  }

  /** Reads the objects that the statements change or read, and all views, because these may read what is changed. */
  async readState(): Promise<void> {
    const listed = await fetchAllObjects(this.client);
    const ids = new NameMap(listed.map(({ name, id }) => [name, id]));
    await this.#fetch(findPlannedObjects(this.inputStatements), ids);
    const existing = this.knownStatements();
    const names = findNames([...this.inputStatements, ...existing]);
    const isRead = ({ kind, name }: KindAndName) => names.has(name) || (existing.length > 0 && kind !== 'table');
    const others = listed.filter(
      each => isObjectKind(each.kind) && isRead(each) && !this.#objects.has(kindAndNameKey(each)),
    );
    // Objects that this account may not read are skipped: the planner did not know them either, so the plan does not depend on them.
    await this.#fetch(others, ids, () => {});
  }

  knownStatements(): string[] {
    return [...this.#objects.values()].flatMap(({ statement }) => statement ?? []);
  }

  /**
   * What somebody else has changed in the objects that a statement changes or reads, or that the assertions before it are about: a
   * sentence for each object. The objects of the next statement are compared too. If only the first RENAME of a rebuild were sent, the
   * table would be missing.
   * @param index of the statement in the input
   */
  async fetchConflicts(statement: string, index: number): Promise<string[]> {
    const { comparedView } = this.#assertions[index] ?? {};
    if (comparedView !== undefined)
      await this.#sourceRowGuard.recordAsserted(comparedView, this.#findTablesBelow(comparedView));
    const own = [...this.#findObjects(statement), ...this.#findAssertedObjects(index)];
    if (own.length === 0) return [];
    const next = this.inputStatements[index + 1];
    const known = [...new Set([...own, ...(next === undefined ? [] : this.#findObjects(next))])];
    const statements = await fetchStatements(this.client, known);
    const ids = await this.#fetchIds(known);
    const conflicts = known.flatMap((object, i) => formatConflict(object, statements[i], ids.get(object.name)) ?? []);
    conflicts.push(...(await this.#sourceRowGuard.fetchConflicts(statement)));
    return conflicts.length > 0 ? conflicts : this.#grantGuard.fetchConflicts(index);
  }

  /** Finds the assertions of the plan that must still be true before a statement is sent. */
  findAssertions(statement: string): string[] {
    if (identify(statement).verb !== 'REFRESH') return [];
    const refreshed = new NameSet(findPlannedObjects([statement]).map(({ name }) => name));
    const isDue = (each: Assertion) => each.isRepeated && each.tables.some(name => refreshed.has(name));
    return this.#assertions.flatMap(each => (each && isDue(each) ? each.statement : []));
  }

  /**
   * Reads again what a statement has changed. If that fails, these objects are no longer compared.
   * @returns a sentence for each object that somebody else has replaced since `fetchConflicts`, or changed while it was refreshed
   */
  async recordExecuted(statement: string): Promise<string[]> {
    const changed = findPlannedObjects([statement]);
    const before = changed.flatMap(object => this.#objects.get(kindAndNameKey(object)) ?? []);
    try {
      const ids = await this.#fetchIds(changed);
      await this.#fetch(changed, ids);
      return before.flatMap(object => {
        const id = ids.get(object.name);
        if (identify(statement).verb !== 'REFRESH') return isReplaced(object, id) ? formatReplaced(object) : [];
        // A refresh takes time, and does not change the definition.
        return formatConflict(object, this.#objects.get(kindAndNameKey(object))?.statement, id) ?? [];
      });
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      for (const object of changed) this.#objects.delete(kindAndNameKey(object));
      return [];
    }
  }

  async #fetchIds(objects: readonly KindAndName[]): Promise<NameMap<unknown>> {
    const names = objects.map(({ name }) => name);
    return names.length === 0 ? new NameMap() : fetchIds(this.client, names);
  }

  /** @param ids fetched before the statements: an object that is recreated meanwhile must not have its new id with its old statement */
  async #fetch(objects: readonly KindAndName[], ids: NameMap<unknown>, onDenied?: () => void): Promise<void> {
    const statements = await fetchStatements(this.client, objects, onDenied);
    for (const [i, object] of objects.entries()) {
      const statement = statements[i];
      // Without a statement, the id is that of an object of another kind, which has the same name.
      const id = statement === undefined ? undefined : ids.get(object.name);
      this.#objects.set(kindAndNameKey(object), { kind: object.kind, name: object.name, statement, id });
    }
  }

  /** Finds the objects of the assertions directly before a statement. They are not compared before each of these assertions. */
  #findAssertedObjects(index: number): GuardedObject[] {
    if (this.#assertions[index]) return [];
    const first = this.#assertions.slice(0, index).lastIndexOf(undefined) + 1;
    const names = new NameSet(this.#assertions.slice(first, index).flatMap(each => each?.tables ?? []));
    return [...this.#objects.values()].filter(({ name }) => names.has(name));
  }

  /** Finds what a view reads that is no view, directly or through views. */
  #findTablesBelow(view: string): string[] {
    const views = new NameMap(
      [...this.#objects.values()].flatMap(({ kind, name, statement }) => (kind === 'table' ? [] : [[name, statement]])),
    );
    const names = new NameSet([view]);
    for (const name of names) for (const each of findReferences(views.get(name) ?? '')) names.add(each); // it grows
    return [...names].filter(name => !views.has(name));
  }

  /** Finds the objects that a statement changes, and what these read. One to create is left out: if it exists, a server rejects it. */
  #findObjects(statement: string): GuardedObject[] {
    const creates = isObjectKind(identify(statement).kind);
    const changed = findPlannedObjects([statement]).flatMap(object => this.#objects.get(kindAndNameKey(object)) ?? []);
    const queries = creates ? [statement] : changed.flatMap(({ statement }) => statement ?? []);
    const names = findNames(queries);
    const sources = [...this.#objects.values()].filter(({ name }) => names.has(name));
    return [...new Set([...(creates ? [] : changed), ...sources])];
  }
}

const isReplaced = ({ id }: GuardedObject, existingId: unknown): boolean =>
  id !== undefined && existingId !== undefined && id !== existingId;

const formatReplaced = (object: KindAndName): string =>
  `somebody else has replaced ${displayName(object)} while the plan was applied`;

function formatConflict(object: GuardedObject, existing: string | undefined, existingId: unknown): string | undefined {
  const { statement } = object;
  const what = displayName(object);
  if (existing !== undefined && isReplaced(object, existingId)) return formatReplaced(object);
  if (statement === existing) return undefined;
  if (statement === undefined) return `somebody else has created ${what} while the plan was applied`;
  if (existing === undefined) return `somebody else has dropped or renamed ${what} while the plan was applied`;
  const { differences } = compareStatements(existing, statement);
  if (differences.length === 0) return undefined;
  const list = differences.map(({ property, a, b }) => `${property}: ${b} to ${a}`);
  return `somebody else has changed ${what} while the plan was applied: ${list.join(', ')}`;
}
