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

/** A change, how to undo it, or both. */
interface LogEntry {
  readonly undo?: () => void;
  readonly transition?: Transition;
  readonly acl?: AclChange;
}

/** The changes since the last commit. The cost of a rollback depends on what was changed, not on what exists. */
export class TransactionLog {
  readonly #entries: LogEntry[] = [];

  add(entry: LogEntry): void {
    this.#entries.push(entry);
  }

  transitionsSince(savepoint: number): Transition[] {
    return this.#entries.slice(savepoint).flatMap(({ transition }) => transition ?? []);
  }

  journalEntries(): JournalEntry[] {
    return this.#entries.flatMap(({ transition, acl }): JournalEntry[] => {
      if (transition) return [transition.after ? { put: transition.after } : { drop: transition.name }];
      return acl ? [{ acl }] : [];
    });
  }

  /** The point to which changes can be undone. */
  savepoint(): number {
    return this.#entries.length;
  }

  /** Undoes all changes since a savepoint, the latest first. Earlier savepoints stay. */
  rollback(to: number): void {
    for (const { undo } of this.#entries.splice(to).reverse()) undo?.();
    this.#entries.length = to; // undoing is no change
  }

  /** Keeps all changes and ends all savepoints. */
  commit(): void {
    this.#entries.length = 0;
  }
}
