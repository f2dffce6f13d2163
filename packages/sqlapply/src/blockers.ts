/*! Only statements that create objects which do not depend on each other may be in flight at the same time. */
import { findReferences } from '@sqlpipe/ddl';
import { foldCase, type Identity, identify, isObject, isSameName } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/** A statement in flight. */
export interface InFlight {
  identity: Identity;
  outcome: Promise<Outcome>;
}

/**
 * The statements in flight that must end before a statement is sent: those that create an object that it reads from or
 * that has its name. A statement that creates no object (a GRANT, an ALTER, …) waits for all, and all wait for it.
 */
export function findBlockers(statement: string, inFlight: readonly InFlight[]): InFlight[] {
  if (!inFlight.length) return [];
  const { kind, name } = identify(statement);
  if (!isObject(kind)) return [...inFlight];
  const isMade = (other: string) => inFlight.some(({ identity }) => isSameName(identity.name, other));
  const needed = new Set([name, ...findReferences(statement, isMade)].map(foldCase));
  return inFlight.filter(({ identity }) => !isObject(identity.kind) || needed.has(foldCase(identity.name)));
}
