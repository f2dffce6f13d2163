/*!
 * A server removes the grants on an object that a plan drops or renames. The plan gives back those that were known when it was made.
 * Somebody may have granted or revoked some since.
 */
import { type Grant, parseCommand, parseRights, printRevocation, printRight, type Right } from '@sqlpipe/ddl';
import { type Client, fetchGrants, fetchWhetherEnterprise } from '@sqlpipe/instance';
import { GIVES_BACK, parsePlanHead, parseRebuildName } from '@sqlpipe/plan/text';
import { RightSet } from '@sqlpipe/schema';
import {
  addToList,
  identify,
  isObjectKind,
  isSameName,
  NameMap,
  NameSet,
  significantTokens,
  unquote,
} from '@sqlpipe/sql';

/** Whether a grant is among the rights. For a grant on a column, any column counts, because a plan may give it another name. */
const hasGrant = (rights: RightSet, grant: Grant): boolean =>
  grant.column === undefined ? rights.includes(grant) : rights.allowsPart({ ...grant, column: undefined });

export class GrantGuard {
  /** The indexes of the statements that create an object or give it its name, by this name. */
  readonly #creations = new NameMap<number[]>();
  readonly #renamedViews: NameMap<string>;
  /** What the statements contain that create objects. A column has one of these names, unless a `*` stands for it. */
  readonly #words = new NameSet();
  /** The rights that the statements give, in order. */
  readonly #givenRights: readonly { readonly right: Right; readonly index: number; readonly isGivenBack: boolean }[];

  constructor(
    private readonly client: Client,
    private readonly inputStatements: readonly string[],
  ) {
    this.#renamedViews = parsePlanHead(inputStatements[0] ?? '')?.renamedViews ?? new NameMap();
    this.#givenRights = inputStatements.flatMap((each, index) => {
      const isGivenBack = each.startsWith(`-- ${GIVES_BACK}\n`);
      return (parseRights(each) ?? []).map(right => ({ right, index, isGivenBack }));
    });
    for (const [index, statement] of inputStatements.entries()) {
      const { kind, name } = identify(statement);
      const command = kind === 'other' ? parseCommand(statement) : undefined;
      if (command?.action === 'rename') addToList(this.#creations, command.to, index);
      if (!isObjectKind(kind)) continue;
      addToList(this.#creations, name, index);
      for (const { text } of significantTokens(statement)) this.#words.add(unquote(text));
    }
  }

  /**
   * Fetches the grants on an object that a statement of the plan replaces, and compares them with what the plan gives to the new one.
   * Nothing is lost with an object that the plan itself has created.
   * @returns a sentence for each difference; none if the target does not show its grants
   */
  async fetchConflicts(index: number): Promise<string[]> {
    const command = parseCommand(this.inputStatements[index] ?? '');
    if (command?.action !== 'rename' && !(command?.action === 'drop' && isObjectKind(command.kind))) return [];
    const { name } = command;
    const created = (each: string) => this.#creations.get(each) ?? [];
    // A server keeps the rights on the name of a plain view that is dropped.
    const keepsRights = command.action === 'drop' && command.kind === 'view';
    const names = [...(keepsRights ? [] : [name]), this.#renamedViews.get(name) ?? []].flat();
    const successors = names.filter(each => created(each).some(i => i > index));
    const isRenamed = command.action === 'rename' && !parseRebuildName(name) && !parseRebuildName(command.to);
    if (isRenamed) successors.push(command.to);
    if (successors.length === 0 || created(name).some(i => i < index)) return [];
    if (!(await fetchWhetherEnterprise(this.client))) return []; // only the enterprise edition has grants
    const { grants, hiddenGrants } = await fetchGrants(this.client);
    if (hiddenGrants !== undefined) return [];
    const existing = new RightSet(grants.flatMap(each => parseRights(each) ?? []));
    const laterRights = this.#givenRights.filter(each => each.index >= index);
    const revoked = laterRights.flatMap(({ right, isGivenBack }) => {
      if (!isGivenBack || right.kind !== 'grant' || !successors.some(each => isSameName(each, right.table))) return [];
      const former = { ...right, table: name };
      if (hasGrant(existing, former)) return [];
      return `somebody else has revoked ${printRevocation(former).slice('REVOKE '.length, -1)}, and the plan would give it back`;
    });
    const removed = existing.grantsOn(name);
    for (const grant of removed) existing.delete(grant);
    const remaining = new RightSet([...existing, ...laterRights.map(({ right }) => right)]);
    // A column may have no place in the new object.
    const isGone = ({ column }: Grant) =>
      column !== undefined && !isRenamed && ![column, '*'].some(each => this.#words.has(each));
    const isGiven = (grant: Grant) => successors.some(table => hasGrant(remaining, { ...grant, table }));
    const lost = removed.filter(grant => !isGone(grant) && !isGiven(grant));
    return [...revoked, ...lost.map(grant => `nothing in the plan gives back ${printRight(grant).slice(0, -1)}`)];
  }
}
