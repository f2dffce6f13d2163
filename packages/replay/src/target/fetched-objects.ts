import { type Comparison, compareStatements, DEFAULT_CAPACITY, type Defaults, tryParseDefinition } from '@sqlpipe/ddl';
import {
  type Client,
  fetchAllObjects,
  fetchDefaults,
  fetchStatements,
  InstanceError,
  MAX_PER_REQUEST,
  SymbolCapacities,
  tryIfAccepted,
} from '@sqlpipe/instance';
import { identify, isObjectKind, isPrincipalKind, isSameName, type KindAndName, kindAndNameKey } from '@sqlpipe/sql';
import { createAclSource, ExistingAcl } from './existing-acl.js';

/** Whether every target can show the definition of this object. Not every target shows its access control. */
export const isShowable = ({ kind, name }: KindAndName): boolean => isObjectKind(kind) && name !== '';

/** The objects of a target, or what a dry run predicts of them. */
export type ExistingObjects = Omit<FetchedObjects, 'lookAhead'>;

export class FetchedObjects {
  #defaults: Promise<Defaults> | undefined;
  #upcoming: readonly KindAndName[] = [];
  /** The keys of all objects of the target. They are listed again after a statement that may have changed any object. */
  #keys: Promise<ReadonlySet<string>> | undefined;
  /** The definitions of the next statements, by key. */
  #prefetched: Promise<ReadonlyMap<string, string | undefined> | undefined> | undefined;
  /** The keys of the objects whose statements were sent after something was prefetched: that may be outdated. */
  readonly #sent = new Set<string>();
  readonly #capacities: SymbolCapacities;
  readonly acl: ExistingAcl;

  /** @param warn called once for what the target does not show @param fetchesMany whether the target probably has many objects */
  constructor(
    private readonly client: Client,
    warn: (message: string) => void,
    private fetchesMany: boolean,
  ) {
    this.#capacities = new SymbolCapacities(use => tryIfAccepted(use(client)));
    this.acl = new ExistingAcl(createAclSource(client), warn);
  }

  /** The target's own definition; undefined if the target shows none of that kind and name. */
  async fetchStatement(identity: KindAndName): Promise<string | undefined> {
    if (isPrincipalKind(identity.kind)) return this.acl.fetchPrincipal(identity);
    if (!isShowable(identity)) return undefined;
    const prefetched = await this.findPrefetched(identity);
    if (prefetched !== undefined) return prefetched;
    const [statement] = await fetchStatements(this.client, [identity]);
    if (statement !== undefined && !this.fetchesMany) {
      this.fetchesMany = true;
      this.#prefetched = this.#prefetch();
    }
    return statement;
  }

  /** Whether the target has an object of that name, of any kind. The server may show an invalid view only under its exact name. */
  async fetchWhetherTaken(identity: KindAndName): Promise<boolean> {
    if ((await this.fetchStatement(identity)) !== undefined) return true;
    return (await fetchAllObjects(this.client)).some(({ name }) => isSameName(name, identity.name));
  }

  /** The definition if it is known already. Waits for a request that is under way, but sends none. */
  async findPrefetched(identity: KindAndName): Promise<string | undefined> {
    const prefetched = await this.#prefetched;
    if (!prefetched?.size) return undefined;
    const key = kindAndNameKey(identity);
    return this.#sent.has(key) ? undefined : prefetched.get(key);
  }

  /** Discards the objects that a statement creates or changes, so that they are fetched again. Call it before and after sending. */
  invalidate(identity: KindAndName): void {
    if (identity.kind === 'other') {
      // The statement may have changed any object.
      this.#prefetched = undefined;
      this.#keys = undefined;
    } else if (this.#prefetched !== undefined) this.#sent.add(kindAndNameKey(identity));
  }

  /** Passes statements on. If objects of the stream exist, the definitions of the next statements are fetched together. */
  async *lookAhead(statements: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
    let batch: string[] = [];
    for await (const statement of statements) {
      if (batch.push(statement) < MAX_PER_REQUEST) continue;
      await this.#prepare(batch);
      for (const prepared of batch) yield prepared;
      batch = [];
    }
    await this.#prepare(batch);
    yield* batch;
  }

  async #prepare(batch: readonly string[]): Promise<void> {
    this.#upcoming = batch.map(identify).filter(isShowable);
    if (this.fetchesMany) this.#prefetched = this.#prefetch();
    await this.#prefetched;
  }

  /** Ignores errors of the instance, because `fetchStatement` then queries each object alone, and reports the error. */
  async #prefetch(): Promise<ReadonlyMap<string, string | undefined> | undefined> {
    const upcoming = this.#upcoming;
    try {
      this.#keys ??= fetchAllObjects(this.client).then(all => new Set(all.map(kindAndNameKey)));
      const keys = await this.#keys;
      const existing = upcoming.filter(identity => keys.has(kindAndNameKey(identity)));
      const statements = await fetchStatements(this.client, existing);
      return new Map(existing.map((identity, i) => [kindAndNameKey(identity), statements[i]]));
    } catch (error) {
      if (!(error instanceof InstanceError)) throw error;
      this.#keys = undefined;
      return undefined;
    }
  }

  fetchDefaults(): Promise<Defaults> {
    this.#defaults ??= fetchDefaults(this.client).catch(error => {
      this.#defaults = undefined;
      throw error;
    });
    return this.#defaults;
  }

  async compareStatements(statement: string, existing: string): Promise<Comparison> {
    if (statement === existing) return compareStatements(statement, existing);
    const defaults = await this.fetchDefaults();
    const parsed = tryParseDefinition(statement, { defaults });
    const like = parsed?.kind === 'table' ? parsed.like : undefined;
    const likeTable = like === undefined ? undefined : await this.fetchStatement({ kind: 'table', name: like });
    // From 9.3 on, SHOW CREATE leaves symbol capacities out, but `table_columns()` shows them.
    const columns = parsed?.kind === 'table' ? parsed.columns : [];
    const statesCapacity = columns.some(({ capacity = 0 }) => capacity > DEFAULT_CAPACITY);
    const [complete = existing] = statesCapacity ? await this.#capacities.complete([existing]) : [];
    return compareStatements(statement, complete, { defaults, findTable: () => likeTable });
  }
}
