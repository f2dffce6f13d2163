/*!
 * While a plan is applied, others may change the same objects. Each statement of the plan is sent only if the objects that it
 * changes or reads from are as the plan left them.
 */
import { compareStatements, findReferences } from '@sqlpipe/ddl';
import { fetchStatements, type Instance, InstanceError, listAllObjects } from '@sqlpipe/instance';
import { plannedObjects } from '@sqlpipe/plan/text';
import { displayName, foldCase, identify, isObject, kindKey, type NamedObject } from '@sqlpipe/sql';

interface KnownObject extends NamedObject {
  /** Its definition as the plan left it; undefined if there is no such object. */
  readonly statement: string | undefined;
}

export class PlanGuard {
  readonly #known = new Map<string, KnownObject>();

  private constructor(private readonly target: Instance) {}

  /**
   * Reads the objects of a plan, what it reads from, and all views, because they may read from what it changes.
   * @param statements those of the plan
   * @throws InstanceError
   */
  static async start(target: Instance, statements: readonly string[]): Promise<PlanGuard> {
    const guard = new PlanGuard(target);
    const planned = plannedObjects(statements);
    await guard.#fetch(planned);
    const queries = [...statements, ...[...guard.#known.values()].flatMap(({ statement }) => statement ?? [])];
    const names = new Set(queries.flatMap(each => findReferences(each)).map(foldCase));
    const hasReaders = [...guard.#known.values()].some(({ statement }) => statement !== undefined);
    const others = (await listAllObjects(target)).flatMap(({ kind, name }) => {
      const isRead = names.has(foldCase(name)) || (hasReaders && kind !== 'table');
      return isRead && isObject(kind) && !guard.#known.has(kindKey({ kind, name })) ? [{ kind, name }] : [];
    });
    // What may not be read is not known to the planner either.
    await guard.#fetch(others, () => {});
    return guard;
  }

  /** The definitions of these objects as the plan left them. */
  statements(): string[] {
    return [...this.#known.values()].flatMap(({ statement }) => statement ?? []);
  }

  /** What somebody else has changed of what a statement changes or reads from; undefined if nothing. @throws InstanceError */
  async findChange(statement: string): Promise<string | undefined> {
    const known = this.#objectsOf(statement);
    const statements = await fetchStatements(this.target, known);
    const changes = known.flatMap((object, i) => describeChange(object, statements[i]) ?? []);
    return changes.length > 0 ? changes.join('; ') : undefined;
  }

  /** Reads again what a statement has changed. If that is not possible, it is not known any longer. */
  async record(statement: string): Promise<void> {
    const changed = plannedObjects([statement]);
    try {
      await this.#fetch(changed);
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      for (const object of changed) this.#known.delete(kindKey(object));
    }
  }

  async #fetch(objects: readonly NamedObject[], onDenied?: () => void): Promise<void> {
    const statements = await fetchStatements(this.target, objects, onDenied);
    for (const [i, object] of objects.entries())
      this.#known.set(kindKey(object), { ...object, statement: statements[i] });
  }

  /** What a statement changes, and what the views that it changes read from. The server finds what a CREATE collides with. */
  #objectsOf(statement: string): KnownObject[] {
    const creates = isObject(identify(statement).kind);
    const changed = plannedObjects([statement]).flatMap(object => this.#known.get(kindKey(object)) ?? []);
    const queries = creates ? [statement] : changed.flatMap(({ statement }) => statement ?? []);
    const names = new Set(queries.flatMap(each => findReferences(each)).map(foldCase));
    const sources = [...this.#known.values()].filter(({ name }) => names.has(foldCase(name)));
    return [...new Set([...(creates ? [] : changed), ...sources])];
  }
}

function describeChange(object: KnownObject, now: string | undefined): string | undefined {
  const { statement } = object;
  if (statement === now) return undefined;
  const what = displayName(object);
  if (statement === undefined) return `somebody else has created ${what} while the plan was applied`;
  if (now === undefined) return `somebody else has dropped or renamed ${what} while the plan was applied`;
  const { differences } = compareStatements(now, statement);
  if (differences.length === 0) return undefined;
  const list = differences.map(({ property, a, b }) => `${property}: ${b} to ${a}`);
  return `somebody else has changed ${what} while the plan was applied: ${list.join(', ')}`;
}
