/*! Adapts statements to another edition or version, and reports what they lose by that. */
import { findReferences } from '@sqlpipe/ddl';
import { toEntry } from '@sqlpipe/schema';
import { displayName, foldCase, type Identity, isObject } from '@sqlpipe/sql';
import { CodedError, truncate } from '@sqlpipe/text';

/** An adapted statement. */
export interface Adapted {
  /** Undefined if the statement is left out. */
  readonly statement?: string | undefined;
  /** A sentence for each thing that is lost. */
  readonly losses: readonly string[];
}

/** Adapts a statement to another server. */
export type Adapt = (statement: string) => Adapted;

/** What to do about losses. */
export interface LossOptions {
  readonly isLossy: boolean;
  /** Called for each statement with losses, if losses are accepted. */
  readonly warn: (message: string) => void;
}

/**
 * Applies the adapters to each statement, in order. With an object, the statements that read from it are
 * left out.
 * @throws CodedError at the end if anything was lost and losses are not accepted; AmbiguousStatementError as
 * `toEntry`
 */
export async function* adapt(
  statements: AsyncIterable<string>,
  adapters: readonly Adapt[],
  { isLossy, warn }: LossOptions,
): AsyncGenerator<Numbered> {
  const leftOut = new Set<string>();
  let first: string | undefined;
  let lossy = 0;
  let n = 0;
  for await (const given of statements) {
    n++;
    const entry = toEntry(given);
    const { statement, losses } = applyAll([reading(leftOut), ...adapters], given);
    if (losses.length > 0) {
      const message = `${place(n, entry)}: ${losses.join('; ')}`;
      first ??= message;
      lossy++;
      if (isLossy) warn(message);
    }
    if (statement !== undefined) yield { n, statement };
    else if (isObject(entry.kind)) leftOut.add(foldCase(entry.name));
  }
  if (first !== undefined && !isLossy)
    throw new CodedError(
      'REJECTED',
      `${first}${lossy > 1 ? `, and so on for ${lossy - 1} more` : ''}; --lossy accepts that`,
    );
}

function applyAll(adapters: readonly Adapt[], given: string): Adapted {
  let statement: string | undefined = given;
  const losses: string[] = [];
  for (const adapter of adapters) {
    if (statement === undefined) break;
    const adapted: Adapted = adapter(statement);
    losses.push(...adapted.losses);
    statement = adapted.statement;
  }
  return { statement, losses };
}

/** Leaves out the statements that read from such an object. */
const reading =
  (leftOut: ReadonlySet<string>): Adapt =>
  statement => {
    const missing = leftOut.size > 0 ? findReferences(statement).find(name => leftOut.has(foldCase(name))) : undefined;
    return missing === undefined
      ? { statement, losses: [] }
      : { losses: [`removed, because it reads from '${missing}', which is removed`] };
  };

/** A statement, and its number in the input. */
export interface Numbered {
  readonly n: number;
  readonly statement: string;
}

/** Maximum length of a statement's name in messages, in UTF-16 code units. */
const LENGTH = 200;

/** The name of a statement in messages: `statement 3 (table 'fx_trades')`. */
export const place = (n: number, identity: Identity): string =>
  `statement ${n} (${truncate(displayName(identity), LENGTH)})`;
