/*! What the target holds already, and whether it is what a statement asks for. */
import { definitions, hasDefinition, type Instance } from '@sqlpipe/instance';
import type { Identity } from '@sqlpipe/sql';

/** Whether the target can show what it made of a statement of this kind. Access control it can not. */
export const canShow = ({ kind, name }: Identity): boolean => hasDefinition(kind) && name !== '';

/** The target's own definition of the object a statement makes; undefined where it has none of that kind and name. */
export async function definitionOf(target: Instance, identity: Identity): Promise<string | undefined> {
  const [definition] = await definitions(target, [identity]);
  return definition;
}

/**
 * Whether a statement is in the form that the service prints, and so must come back as it went.
 * What was written by hand may come back in other words and mean the same.
 */
export const isServersForm = (statement: string): boolean =>
  /^CREATE (?:TABLE '[^']+' \( \n\t|VIEW '[^']+' AS \( \n|MATERIALIZED VIEW '[^']+' WITH BASE ')/.test(statement);
