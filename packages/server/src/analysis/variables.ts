/*! Variables of DECLARE. One may stand for an expression of others, those again, and so for a text without an end. */

import type { Expression } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/grammar';

/** How often the variables of one query are looked up. */
const maxLookups = 10_000;

export class Variables {
  readonly #values: ReadonlyMap<string, Expression>;
  readonly #lookups: { left: number };

  /** @param outer those of the query around, which are seen too */
  constructor(assignments: readonly { readonly name: string; readonly value: Expression }[] = [], outer?: Variables) {
    const own = assignments.map(({ name, value }) => [name.toLowerCase(), value] as const);
    this.#values = new Map([...(outer ? outer.#values : []), ...own]);
    this.#lookups = outer ? outer.#lookups : { left: maxLookups };
  }

  /** What a variable was declared as. @throws RejectionError where they stand for too much */
  get(name: string): Expression | undefined {
    if (this.#lookups.left-- > 0) return this.#values.get(name.toLowerCase());
    throw new RejectionError(0, 'variables of DECLARE stand for too many expressions');
  }
}
