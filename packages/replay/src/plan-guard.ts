/*! Others may change objects while a plan is applied. A statement is sent only if what it changes or reads is as the plan left it. */
import { compareStatements, findReferences } from '@sqlpipe/ddl';
import { type Client, fetchStatements, InstanceError, listAllObjects } from '@sqlpipe/instance';
import { findPlannedObjects } from '@sqlpipe/plan/text';
import { displayName, identify, isObject, kindKey, type NamedObject, NameSet } from '@sqlpipe/sql';

const findNames = (statements: readonly string[]): NameSet =>
  new NameSet(statements.flatMap(each => findReferences(each)));

interface GuardedObject extends NamedObject {
  /** As the plan left it; undefined if there is no such object. */
  readonly statement: string | undefined;
}

export class PlanGuard {
  readonly #known = new Map<string, GuardedObject>();

  private constructor(private readonly client: Client) {}

  /** Reads the objects that a plan changes or reads, and all views, because these may read what the plan changes. */
  static async start(client: Client, statements: readonly string[]): Promise<PlanGuard> {
    const guard = new PlanGuard(client);
    const planned = findPlannedObjects(statements);
    await guard.#fetch(planned);
    const existing = guard.statements();
    const names = findNames([...statements, ...existing]);
    const others = (await listAllObjects(client)).flatMap(({ kind, name }) => {
      const isRead = names.has(name) || (existing.length > 0 && kind !== 'table');
      return isRead && isObject(kind) && !guard.#known.has(kindKey({ kind, name })) ? [{ kind, name }] : [];
    });
    // Objects that this account may not read are skipped: the planner did not know them either, so the plan does not depend on them.
    await guard.#fetch(others, () => {});
    return guard;
  }

  statements(): string[] {
    return [...this.#known.values()].flatMap(({ statement }) => statement ?? []);
  }

  /** What somebody else has changed in the objects that a statement changes or reads: a sentence for each object. */
  async findConflicts(statement: string): Promise<string[]> {
    const known = this.#findObjects(statement);
    const statements = await fetchStatements(this.client, known);
    return known.flatMap((object, i) => formatConflict(object, statements[i]) ?? []);
  }

  /** Reads again what a statement has changed. If that fails, these objects are no longer compared. */
  async record(statement: string): Promise<void> {
    const changed = findPlannedObjects([statement]);
    try {
      await this.#fetch(changed);
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      for (const object of changed) this.#known.delete(kindKey(object));
    }
  }

  async #fetch(objects: readonly NamedObject[], onDenied?: () => void): Promise<void> {
    const statements = await fetchStatements(this.client, objects, onDenied);
    for (const [i, object] of objects.entries())
      this.#known.set(kindKey(object), { ...object, statement: statements[i] });
  }

  /** Finds the objects that a statement changes, and what these read. One to create is left out: if it exists, a server rejects it. */
  #findObjects(statement: string): GuardedObject[] {
    const creates = isObject(identify(statement).kind);
    const changed = findPlannedObjects([statement]).flatMap(object => this.#known.get(kindKey(object)) ?? []);
    const queries = creates ? [statement] : changed.flatMap(({ statement }) => statement ?? []);
    const names = findNames(queries);
    const sources = [...this.#known.values()].filter(({ name }) => names.has(name));
    return [...new Set([...(creates ? [] : changed), ...sources])];
  }
}

function formatConflict(object: GuardedObject, existing: string | undefined): string | undefined {
  const { statement } = object;
  if (statement === existing) return undefined;
  const what = displayName(object);
  if (statement === undefined) return `somebody else has created ${what} while the plan was applied`;
  if (existing === undefined) return `somebody else has dropped or renamed ${what} while the plan was applied`;
  const { differences } = compareStatements(existing, statement);
  if (differences.length === 0) return undefined;
  const list = differences.map(({ property, a, b }) => `${property}: ${b} to ${a}`);
  return `somebody else has changed ${what} while the plan was applied: ${list.join(', ')}`;
}
