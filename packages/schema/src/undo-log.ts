/** A stack of functions that each undo one change. It costs what was changed, not what exists. Before a savepoint, nothing is recorded. */
export class UndoLog {
  readonly #undo: (() => void)[] = [];
  #isOpen = false;

  /** Starts to record; returns the point to which changes can be undone. */
  savepoint(): number {
    this.#isOpen = true;
    return this.#undo.length;
  }

  record(undo: () => void): void {
    if (this.#isOpen) this.#undo.push(undo);
  }

  /** Undoes all changes since a savepoint, the latest first. Earlier savepoints stay. */
  rollback(to: number): void {
    const isOpen = this.#isOpen;
    this.#isOpen = false; // undoing is no change
    while (this.#undo.length > to) this.#undo.pop()?.();
    this.#isOpen = isOpen;
  }

  /** Keeps all changes and ends all savepoints. */
  commit(): void {
    this.#undo.length = 0;
    this.#isOpen = false;
  }
}
