import type { Right } from '@sqlpipe/ddl';
import { UndoLog } from '@sqlpipe/schema';
import type { CatalogueObject } from './catalogue-objects.js';
import type { Principal } from './principal.js';

/** An object before and after a statement; undefined where it did not exist. */
export interface Transition {
  readonly name: string;
  readonly before: CatalogueObject | undefined;
  readonly after: CatalogueObject | undefined;
}

export type AclChange =
  | { readonly put: Principal }
  | { readonly remove: string }
  | { readonly grant: Right }
  | { readonly revoke: Right };

/** One change, as a journal stores it. Only the enterprise edition has `acl`. */
export type JournalEntry = { readonly put: CatalogueObject } | { readonly drop: string } | { readonly acl: AclChange };

/** The changes of objects and of access control since the last commit. A savepoint is needed to undo them. */
export class TransactionLog extends UndoLog {
  readonly #transitions: Transition[] = [];
  readonly #aclChanges: AclChange[] = [];

  get transitions(): readonly Transition[] {
    return this.#transitions;
  }

  addTransition(transition: Transition): void {
    this.#transitions.push(transition);
    this.record(() => this.#transitions.pop());
  }

  addAclChange(change: AclChange): void {
    this.#aclChanges.push(change);
    this.record(() => this.#aclChanges.pop());
  }

  entries(): JournalEntry[] {
    return [
      ...this.#transitions.map(({ name, after }): JournalEntry => (after ? { put: after } : { drop: name })),
      ...this.#aclChanges.map((acl): JournalEntry => ({ acl })),
    ];
  }

  override commit(): void {
    super.commit();
    this.#transitions.length = 0;
    this.#aclChanges.length = 0;
  }
}
