/*!
 * Variables of DECLARE. A variable may stand for an expression with other variables, and so for a text of any length.
 */

import type { Expression } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { foldCase } from '@sqlpipe/sql';

/** Maximum number of lookups of variables per query. */
const maxLookups = 10_000;

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
