/*! The access control of the target, with which statements are compared. It is queried once, and updated after each sent statement. */
import { ALL_NAMES, type Comparison, compareStatements, parseRights, printRight, type Right } from '@sqlpipe/ddl';
import { type Client, fetchPrincipals, fetchRights, fetchRightsOf, tryQuery } from '@sqlpipe/instance';
import { type Entry, RightSet } from '@sqlpipe/schema';
import { identify, isPrincipalKind, isRightKind, type KindAndName, kindAndNameKey, NameSet } from '@sqlpipe/sql';

/** `fetchRightsOf` is not called if `fetchRights` returns all rights. */
export const createAclSource = (client: Client) => ({
  label: client.label,
  fetchPrincipals: () => fetchPrincipals(client),
  fetchRights: () => fetchRights(client),
  fetchRightsOf: (name: string) => fetchRightsOf(client, name),
});

export type AclSource = ReturnType<typeof createAclSource>;

export class ExistingAcl {
  #principals: Promise<Map<string, string> | undefined> | undefined;
  /** `principals`: those whose rights are known; undefined if all rights are known. */
  #rights: Promise<{ rights: RightSet; principals?: NameSet } | undefined> | undefined;
  /** What the target does not show. An account may be allowed to see rights, and not the list of users. */
  readonly #hidden = new Set<'principals' | 'rights'>();

  /** @param warn called once if the target does not show its access control */
  constructor(
    private readonly source: AclSource,
    private readonly warn: (message: string) => void,
  ) {}

  /** The statement of a user, a group or a service account. Undefined if the target has or shows none of this name. */
  async fetchPrincipal(identity: KindAndName): Promise<string | undefined> {
    return (await this.#fetchPrincipals())?.get(kindAndNameKey(identity));
  }

  /** Compares the rights in a statement with the target's. Undefined if either are unknown. `exists`: whether the target has them all. */
  async compareRights(statement: string): Promise<(Comparison & { readonly exists: boolean }) | undefined> {
    const rights = parseRights(statement);
    const known = rights && (await this.#fetchRightsFor(rights));
    if (!known) return undefined;
    const isStored = rights.every(right => known.hasExactly(right));
    const losing = isStored ? [] : rights.flatMap(right => known.findLostOptions(right));
    const differences = losing.map(right => ({
      property: printRight({ ...right, hasGrantOption: false } as Right).slice(0, -1) as `GRANT ${string}`,
      a: 'no grant option',
      b: 'WITH GRANT OPTION',
    }));
    const exists = rights.every(right => known.includes(right));
    return { differences, notComparable: [], isTokenComparison: false, exists };
  }

  /** Records the effect of a statement that the server has accepted. After one that may remove something, everything is queried again. */
  async recordAccepted(entry: Entry): Promise<void> {
    const { kind, statement } = entry;
    if (isPrincipalKind(kind)) (await this.#principals)?.set(kindAndNameKey(entry), statement);
    else if (kind === 'other') this.invalidate();
    else if (isRightKind(kind)) {
      const known = await this.#rights;
      for (const right of parseRights(statement) ?? []) known?.rights.grant(right);
    }
  }

  invalidate(): void {
    this.#principals = undefined;
    this.#rights = undefined;
  }

  /** Compares a statement that was executed with the target. Undefined if the target does not show the result. */
  async readBack(entry: Entry): Promise<Comparison | 'missing' | undefined> {
    const { kind, statement } = entry;
    if (isRightKind(kind)) {
      // Of `GRANT SELECT ON t(*) TO u`, the server stores the list of columns.
      if (parseRights(statement)?.some(right => right.kind === 'grant' && right.column === ALL_NAMES)) return undefined;
      const exists = (await this.compareRights(statement))?.exists;
      if (exists) return { differences: [], notComparable: [], isTokenComparison: false };
      // If rights are queried for one principal at a time, a user's right is not found if one of the user's groups has it too.
      return exists === undefined || (await this.#rights)?.principals ? undefined : 'missing';
    }
    const principals = await this.#fetchPrincipals();
    const found = principals?.get(kindAndNameKey(entry));
    if (found === undefined) return principals && 'missing';
    const comparison = compareStatements(statement, found);
    return comparison.isTokenComparison ? undefined : comparison;
  }

  #fetchPrincipals(): Promise<Map<string, string> | undefined> {
    this.#principals ??= this.#query('principals', async () => {
      const statements = await this.source.fetchPrincipals();
      return new Map(statements.map(statement => [kindAndNameKey(identify(statement)), statement]));
    });
    return this.#principals;
  }

  async #fetchRightsFor(rights: readonly Right[]): Promise<RightSet | undefined> {
    this.#rights ??= this.#query('rights', async () => {
      const all = await this.source.fetchRights();
      return { rights: new RightSet(all), ...(!all && { principals: new NameSet() }) };
    });
    const known = await this.#rights;
    for (const name of new Set(rights.map(right => (right.kind === 'membership' ? right.user : right.entity)))) {
      if (!known?.principals || known.principals.has(name)) continue;
      const found = await this.#query('rights', () => this.source.fetchRightsOf(name));
      if (!found) return undefined;
      known.principals.add(name);
      for (const right of found) known.rights.add(right);
    }
    return known?.rights;
  }

  /** The result of a query. Undefined if the server rejects it. Then it is not sent again. */
  async #query<T>(what: 'principals' | 'rights', query: () => Promise<T>): Promise<T | undefined> {
    if (this.#hidden.has(what)) return undefined;
    return tryQuery(query(), ({ serverMessage }) => {
      if (serverMessage === undefined) {
        this.invalidate(); // or the error would be the answer to each later question
        return false;
      }
      if (this.#hidden.size === 0)
        this.warn(
          `${this.source.label}: access control cannot be compared, because the server does not show it: ${serverMessage}`,
        );
      this.#hidden.add(what);
      return true;
    });
  }
}
