import type { PropertyDifference } from '@sqlpipe/ddl';
import { fetchComparisonFacts } from '@sqlpipe/instance';
import { compareSchemas, differenceResult, IgnoreRules } from '@sqlpipe/schema';
import type { Kind, KindAndName } from '@sqlpipe/sql';
import type { OnWarning } from './instance.js';
import { readSides, type SchemaSource } from './schema.js';

/** How to compare. */
export interface DiffOptions {
  /** Ignore objects that only B has. */
  readonly ignoreExtra?: boolean;
  /** Ignore these: names (`tmp_*`), kinds (`grant`), properties (`trades: TTL`, `column order`). */
  readonly ignore?: readonly string[];
  /** Ignore differences in OWNED BY. */
  readonly ignoreOwner?: boolean;
  readonly onWarning?: OnWarning;
}

/** An object that differs. */
export interface Difference {
  readonly kind: Kind;
  readonly name: string;
  readonly result: 'only-a' | 'only-b' | 'differs';
  /** The statement in A, if it is there. */
  readonly a?: string;
  /** The statement in B, if it is there. */
  readonly b?: string;
  /** How the two differ: `{ property: "column 'price'", a: 'FLOAT', b: 'DOUBLE' }`. */
  readonly properties: readonly PropertyDifference[];
}

/** An object that an instance reports as invalid or suspended. */
export interface Problem {
  readonly kind: Kind;
  readonly name: string;
  readonly result: 'invalid' | 'suspended';
  /** The schema whose instance reports it. */
  readonly side: 'a' | 'b';
  /** The reason that the instance gives. */
  readonly reason: string;
}

/** The schemas are the same if there are no differences. */
export interface Diff {
  /** What A has, in an order that can be applied, then what only B has. */
  readonly differences: readonly Difference[];
  readonly problems: readonly Problem[];
  /** The number of objects compared. */
  readonly total: number;
  /** Properties that cannot be compared, because one side does not show them. */
  readonly notComparable: readonly {
    readonly kind: Kind;
    readonly name: string;
    readonly properties: readonly string[];
  }[];
}

/**
 * Compares two schemas by meaning. It does not matter how a statement is written. What a statement omits has the default of
 * the server.
 *
 * ```ts
 * import { diff, serve } from 'sqlpipe';
 *
 * const server = await serve({ schema: ['CREATE TABLE quotes (ts TIMESTAMP, ask DOUBLE) TIMESTAMP(ts)'] });
 * const { differences } = await diff('schema.sql', server.url);
 * for (const { result, name, properties } of differences) console.log(result, name, properties);
 * await server.close();
 * // differs quotes [ { property: "column 'bid'", a: 'DOUBLE', b: 'none' } ]
 * // only-a spreads []
 * // only-a trades []
 * ```
 *
 * Throws `DAMAGED` or `USAGE`, and what reading the schemas throws.
 */
export async function diff(
  a: SchemaSource,
  b: SchemaSource,
  { ignoreExtra = false, ignoreOwner = false, ignore, onWarning }: DiffOptions = {},
): Promise<Diff> {
  const [sideA, sideB] = await readSides(a, b, onWarning);
  const facts = await fetchComparisonFacts(sideA.config, sideB.config);
  const rules = { ignoreOwner, ignoreExtra, ignore: new IgnoreRules(ignore) };
  const compared = compareSchemas(sideA.statements, sideB.statements, { ...rules, ...facts });
  return {
    differences: compared.differences.map(({ identity, comparison, ...statements }) => ({
      ...kindAndName(identity),
      result: differenceResult(statements),
      ...statements,
      properties: comparison?.differences ?? [],
    })),
    problems: compared.problems.map(({ identity, state: result, side, reason }) => ({
      ...kindAndName(identity),
      result,
      side,
      reason,
    })),
    total: compared.total,
    notComparable: compared.notComparable.map(({ identity, properties }) => ({ ...kindAndName(identity), properties })),
  };
}

/** What the library shows of an identity. */
export const kindAndName = ({ kind, name }: KindAndName): KindAndName => ({ kind, name });
