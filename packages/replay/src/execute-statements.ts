/*!
 * Executes statements, in order, some of them at the same time. It is a generator, because a stream would read ahead: it
 * would send the statements after a rejected one before its reader gets the rejection.
 */
import { findReferences } from '@sqlpipe/ddl';
import { foldCase, type Identity, identify, isObject, isSameName } from '@sqlpipe/sql';
import type { StatementResult } from './executor.js';
import { isReject, type Location, type Outcome } from './outcome.js';

/** When the execution ends, and where its statements are. */
export interface ExecutionOptions {
  /** Continue after a rejection. A failure of the instance always ends the run. */
  keepGoing: boolean;
  /** Aborted when the user wants to stop: statements in flight are finished, later ones are `not reached`. */
  interrupted: AbortSignal;
  /** Called when a rejection ends the run: later statements are `not reached`. */
  onEnd?(): void;
  /** The location of each statement in the order of the statements; undefined if it is not known. */
  locations?: readonly (Location | undefined)[];
}

/** Executes one statement and returns its result. */
export type Executor = (statement: string) => Promise<StatementResult>;

/**
 * Yields an outcome for each statement, in order. Statements after the one that ends the run are `not reached`.
 * @param executors one for each statement that may be in flight; a statement waits for those that `findBlockers` finds
 */
export async function* executeStatements(
  statements: AsyncIterable<string>,
  executors: readonly Executor[],
  { keepGoing, interrupted, onEnd, locations = [] }: ExecutionOptions,
): AsyncGenerator<Outcome> {
  const inFlight: InFlight[] = [];
  let ended = false;

  const executeInTurn = async (n: number, statement: string, blockers: InFlight[]): Promise<Outcome> => {
    for (const { outcome } of blockers) await outcome;
    const started = performance.now();
    const time = new Date();
    const execute = executors[n % executors.length] as Executor;
    const result: StatementResult = ended || interrupted.aborted ? { result: 'not reached' } : await execute(statement);
    const location = locations[n - 1];
    const outcome = {
      n,
      statement,
      ...(location && { location }),
      identity: identify(statement),
      ...(result.result !== 'not reached' && { time }),
      ms: Math.round(performance.now() - started),
      ...result,
    };
    if (!ended && isReject(outcome) && (!keepGoing || outcome.failure !== undefined)) {
      ended = true;
      onEnd?.();
    }
    return outcome;
  };

  let n = 0;
  for await (const statement of statements) {
    const blockers = findBlockers(statement, inFlight);
    inFlight.push({ identity: identify(statement), outcome: executeInTurn(++n, statement, blockers) });
    // Executors are assigned in turn: the next statement needs that of the first one in flight, which has to end.
    if (inFlight.length === executors.length) yield await (inFlight.shift() as InFlight).outcome;
  }
  for (const { outcome } of inFlight) yield await outcome;
}

/** A statement in flight. */
interface InFlight {
  identity: Identity;
  outcome: Promise<Outcome>;
}

/**
 * The statements in flight that must end before a statement is sent, as only statements that create objects which do not
 * depend on each other may be in flight at the same time: those that create an object that it reads from or
 * that has its name. A statement that creates no object (a GRANT, an ALTER, …) waits for all, and all wait for it.
 */
function findBlockers(statement: string, inFlight: readonly InFlight[]): InFlight[] {
  if (!inFlight.length) return [];
  const { kind, name } = identify(statement);
  if (!isObject(kind)) return [...inFlight];
  const isMade = (other: string) => inFlight.some(({ identity }) => isSameName(identity.name, other));
  const needed = new Set([name, ...findReferences(statement, isMade)].map(foldCase));
  return inFlight.filter(({ identity }) => !isObject(identity.kind) || needed.has(foldCase(identity.name)));
}
