/*! Translates from one edition to the other: properties that both have in other words, owners, access control. */
import { type Definition, findProperty, isUnderstood, ownerOf, removeOwner } from '@sqlpipe/ddl';
import { identify, isAcl } from '@sqlpipe/sql';
import { truncate } from '@sqlpipe/text';
import type { Adapted } from './adapt.js';
import { replaceClauses } from './clauses.js';

const OPEN_SOURCE = 'the open source edition has no';

/** Translates a statement for the open source edition. */
export function toOpenSource(statement: string): Adapted {
  const { kind } = identify(statement);
  if (isAcl(kind)) return { losses: [`removed, because ${OPEN_SOURCE} access control`] };
  if (kind === 'other' || !/\b(?:owned|storage)\b/i.test(statement)) return { statement, losses: [] };
  if (!isUnderstood(statement, kind)) return { statement, losses: [UNKNOWN] };
  const named = ownerOf(statement);
  const { statement: kept, losses } =
    kind === 'table' ? translateProperties(statement, { isEnterprise: false }) : { statement, losses: [] };
  if (named === undefined) return { statement: kept, losses };
  return {
    statement: removeOwner(kept),
    losses: [...losses, `OWNED BY ${truncate(named, 140)} is removed, because ${OPEN_SOURCE} owners`],
  };
}

/** The loss of a statement that is not understood: it is not changed. */
export const UNKNOWN = 'not changed, because its syntax is unknown';

/** Translates a statement for the enterprise edition: a table keeps its rows as the edition would print it. */
export function toEnterprise(statement: string): Adapted {
  const isTable = identify(statement).kind === 'table' && isUnderstood(statement, 'table');
  return isTable ? translateProperties(statement, { isEnterprise: true }) : { statement, losses: [] };
}

/** Writes the properties that the other edition says in other clauses. */
function translateProperties(given: string, edition: { readonly isEnterprise: boolean }) {
  const losses: string[] = [];
  const statement = replaceClauses(given, ({ property }, { definition }) => {
    const translation = findProperty(property, definition.kind)?.translate?.(definition as Definition, edition);
    if (translation?.loss !== undefined) losses.push(`${translation.loss}, because ${OPEN_SOURCE} such stages`);
    return translation?.clause;
  });
  return { statement, losses };
}
