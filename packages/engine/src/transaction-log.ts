import type { Right } from '@sqlpipe/ddl';
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

/**
 * The changes of objects and of access control since the last commit, with a function that undoes each change. So the cost of a rollback
 * depends on what was changed, not on what exists.
 */
export class TransactionLog {
  readonly #transitions: Transition[] = [];
  readonly #aclChanges: AclChange[] = [];
  readonly #undo: (() => void)[] = [];

  get transitions(): readonly Transition[] {
    return this.#transitions;
  }

  addTransition(transition: Transition): void {
    this.#transitions.push(transition);
    this.recordUndo(() => this.#transitions.pop());
  }

  addAclChange(change: AclChange): void {
    this.#aclChanges.push(change);
    this.recordUndo(() => this.#aclChanges.pop());
  }

  journalEntries(): JournalEntry[] {
    return [
      ...this.#transitions.map(({ name, after }): JournalEntry => (after ? { put: after } : { drop: name })),
      ...this.#aclChanges.map((acl): JournalEntry => ({ acl })),
    ];
  }

  /** The point to which changes can be undone. */
  savepoint(): number {
    return this.#undo.length;
  }

  recordUndo(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Undoes all changes since a savepoint, the latest first. Earlier savepoints stay. */
  rollback(to: number): void {
    for (const undo of this.#undo.splice(to).reverse()) undo();
    this.#undo.length = to; // undoing is no change
  }

  /** Keeps all changes and ends all savepoints. */
  commit(): void {
    for (const changes of [this.#undo, this.#transitions, this.#aclChanges]) changes.length = 0;
  }
}
