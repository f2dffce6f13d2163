/*! The names in a query: the columns that are taken, and the variables of DECLARE. */
import type { Expression } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { foldCase } from '@sqlpipe/sql';

/** The names of columns that are taken, in any case, and the next free name. */
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

/** Maximum number of lookups of variables per query. */
const maxLookups = 10_000;

/** Variables of DECLARE. A variable may stand for an expression with other variables, and so for a text of any length. */
export class Variables {
  readonly #values: ReadonlyMap<string, Expression>;
  readonly #lookups: { left: number };

  /** @param outer the variables of the enclosing query, which are visible too */
  constructor(assignments: readonly { readonly name: string; readonly value: Expression }[] = [], outer?: Variables) {
    const own = assignments.map(({ name, value }) => [foldCase(name), value] as const);
    this.#values = new Map([...(outer ? outer.#values : []), ...own]);
    this.#lookups = outer ? outer.#lookups : { left: maxLookups };
  }

  /** The expression that a variable was declared as. @throws RejectionError after too many lookups */
  get(name: string): Expression | undefined {
    if (this.#lookups.left-- > 0) return this.#values.get(foldCase(name));
    throw new RejectionError(0, 'variables of DECLARE stand for too many expressions');
  }
}
