/*! The names of columns that are taken, in any case, and the next free name. */
import { foldCase } from '@sqlpipe/sql';

export class TakenNames {
  readonly #names = new Set<string>();
  /** For each name the number that was free last time: lower numbers stay taken. */
  readonly #numbers = new Map<string, number>();

  has(name: string): boolean {
    return this.#names.has(foldCase(name));
  }

  add(name: string): void {
    this.#names.add(foldCase(name));
  }

  /** The name if it is free, or the first free one with a number. */
  unused(name: string, numbered: (n: number) => string): string {
    if (!this.has(name)) return name;
    let n = this.#numbers.get(foldCase(name)) ?? 1;
    while (this.has(numbered(n))) n++;
    this.#numbers.set(foldCase(name), n);
    return numbered(n);
  }
}
