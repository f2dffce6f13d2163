/*! The changes of objects and of access control since the last commit: they are stored, undone and kept together. */
import type { Right } from '@sqlpipe/ddl';
import { UndoLog } from '@sqlpipe/schema';
import type { CatalogueObject } from './catalogue-objects.js';
import type { Principal } from './principal.js';

/** One object before and after a statement has created, changed or dropped it; undefined if it did not exist. */
export interface Transition {
  readonly name: string;
  readonly before: CatalogueObject | undefined;
  readonly after: CatalogueObject | undefined;
}

/** A change of access control. */
export type AclChange =
  | { readonly put: Principal }
  | { readonly remove: string }
  | { readonly grant: Right }
  | { readonly revoke: Right };

/** One change, as a journal stores it. Only the enterprise edition has `acl`. */
export type JournalEntry = { readonly put: CatalogueObject } | { readonly drop: string } | { readonly acl: AclChange };

/** What was changed since the last commit. A savepoint is needed to undo it. */
export class ChangeLog extends UndoLog {
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

  changes(): JournalEntry[] {
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
