/*! What the target holds already, and whether it is what a statement makes. */
import { compareStatements, type Defaults, parseMeaning, type StatementComparison } from '@sqlpipe/ddl';
import { fetchDefaults, fetchDefinitions, type Instance, supportsShowCreate } from '@sqlpipe/instance';
import { type Identity, isPrincipal } from '@sqlpipe/sql';
import { ExistingAccess } from './existing-access.js';

/** Whether the target can show what it made of a statement of this kind. Access control it need not. */
export const isShowable = ({ kind, name }: Identity): boolean => supportsShowCreate(kind) && name !== '';

/** The objects of a target, to compare statements with. */
export class ExistingObjects {
  readonly #target: Instance;
  #defaults: Promise<Defaults> | undefined;
  readonly access: ExistingAccess;

  /** @param warn called once for what the target does not show */
  constructor(target: Instance, warn: (message: string) => void) {
    this.#target = target;
    this.access = new ExistingAccess(target, warn);
  }

  /** The target's own definition of what a statement makes; undefined where it shows none of that kind and name. */
  async fetch(identity: Identity): Promise<string | undefined> {
    if (isPrincipal(identity.kind)) return this.access.findPrincipal(identity);
    const [definition] = isShowable(identity) ? await fetchDefinitions(this.#target, [identity]) : [];
    return definition;
  }

  /** Compares a statement, as the target would read it, with a definition of the target's own. */
  async compare(statement: string, existing: string): Promise<StatementComparison> {
    if (statement === existing) return compareStatements(statement, existing);
    this.#defaults ??= fetchDefaults(this.#target);
    const defaults = await this.#defaults;
    const meant = parseMeaning(statement, { defaults });
    const like = meant?.kind === 'table' ? meant.like : undefined;
    const model = like === undefined ? undefined : await this.fetch({ kind: 'table', name: like, verb: '' });
    return compareStatements(statement, existing, { defaults, findTable: () => model });
  }
}
