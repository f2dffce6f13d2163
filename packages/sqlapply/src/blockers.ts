/*! Which statements may be in flight at once: those that create objects that do not depend on each other. */
import { findReferences } from '@sqlpipe/ddl';
import { foldCase, type Identity, identify, isObject, isSameName } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/** A statement in flight. */
export interface InFlight {
  identity: Identity;
  outcome: Promise<Outcome>;
}

/**
 * Which statements in flight have to end before this one: those that make what it reads from or is called, and around
 * a statement that makes no object (a GRANT, an ALTER, …) all.
 */
export function findBlockers(statement: string, inFlight: readonly InFlight[]): InFlight[] {
  if (!inFlight.length) return [];
  const { kind, name } = identify(statement);
  if (!isObject(kind)) return [...inFlight];
  const isMade = (other: string) => inFlight.some(({ identity }) => isSameName(identity.name, other));
  const needed = new Set([name, ...findReferences(statement, isMade)].map(foldCase));
  return inFlight.filter(({ identity }) => !isObject(identity.kind) || needed.has(foldCase(identity.name)));
}
