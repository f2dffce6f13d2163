/*! What the target holds already, and whether it is what a statement makes. */
import { compareStatements, type Defaults, meaningOf, type StatementComparison } from '@sqlpipe/ddl';
import { definitions, fetchDefaults, hasDefinition, type Instance, InstanceError } from '@sqlpipe/instance';
import { foldCase, type Identity, identify, isPrincipal, type Kind } from '@sqlpipe/sql';

/** Whether the target can show what it made of a statement of this kind. Access control it need not. */
export const isShowable = ({ kind, name }: Identity): boolean => hasDefinition(kind) && name !== '';

/** The objects of a target, to compare statements with. */
export class ExistingObjects {
  readonly #target: Instance;
  #defaults: Promise<Defaults> | undefined;

  constructor(target: Instance) {
    this.#target = target;
  }

  /** The target's own definition of what a statement makes; undefined where it shows none of that kind and name. */
  async fetch(identity: Identity): Promise<string | undefined> {
    if (isPrincipal(identity.kind)) return fetchPrincipal(this.#target, identity);
    const [definition] = isShowable(identity) ? await definitions(this.#target, [identity]) : [];
    return definition;
  }

  /** Compares a statement, as the target would read it, with a definition of the target's own. */
  async compare(statement: string, existing: string): Promise<StatementComparison> {
    if (statement === existing) return compareStatements(statement, existing);
    this.#defaults ??= fetchDefaults(this.#target);
    const defaults = await this.#defaults;
    const meant = meaningOf(statement, { defaults });
    const like = meant?.kind === 'table' ? meant.like : undefined;
    const model = like === undefined ? undefined : await this.fetch({ kind: 'table', name: like, verb: '' });
    return compareStatements(statement, existing, { defaults, findTable: () => model });
  }
}

/** The categories of a dump that show users, groups and service accounts. */
const CATEGORIES: Partial<Record<Kind, string>> = {
  user: 'USERS',
  group: 'GROUPS',
  'service-account': 'SERVICE_ACCOUNTS',
};

/** What a dump has of a user, a group or a service account. Older servers and the open source edition show none. */
async function fetchPrincipal(target: Instance, { kind, name }: Identity): Promise<string | undefined> {
  const isIt = (row: string): boolean => {
    const other = identify(row);
    return other.kind === kind && foldCase(other.name) === foldCase(name);
  };
  let found: string | undefined;
  try {
    for await (const rows of target.rows(`SHOW CREATE DATABASE INCLUDE (${CATEGORIES[kind]})`))
      found ??= rows.find(isIt);
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
  }
  return found;
}
