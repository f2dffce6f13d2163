/*! The names of columns that are taken, in any case, and the next free name. */

export class TakenNames {
  readonly #names = new Set<string>();
  /** For each name the number that was free last time: lower numbers stay taken. */
  readonly #numbers = new Map<string, number>();

  has(name: string): boolean {
    return this.#names.has(name.toLowerCase());
  }

  add(name: string): void {
    this.#names.add(name.toLowerCase());
  }

  /** The name if it is free, or the first free one with a number. */
  unused(name: string, numbered: (n: number) => string): string {
    if (!this.has(name)) return name;
    let n = this.#numbers.get(name.toLowerCase()) ?? 1;
    while (this.has(numbered(n))) n++;
    this.#numbers.set(name.toLowerCase(), n);
    return numbered(n);
  }
}
