/*! Names of columns that are taken, in any case, and the next that is not. */

export class TakenNames {
  readonly #names = new Set<string>();
  /** The number that was free at last, by the name that it goes with: those below it stay taken. */
  readonly #numbers = new Map<string, number>();

  has(name: string): boolean {
    return this.#names.has(name.toLowerCase());
  }

  add(name: string): void {
    this.#names.add(name.toLowerCase());
  }

  /** The name, or the first with a number that is not taken. */
  unused(name: string, numbered: (n: number) => string): string {
    if (!this.has(name)) return name;
    let n = this.#numbers.get(name.toLowerCase()) ?? 1;
    while (this.has(numbered(n))) n++;
    this.#numbers.set(name.toLowerCase(), n);
    return numbered(n);
  }
}
