/*! What the target holds already, and whether it is what a statement asks for. */
import { fold, isObject, isPrincipal, isPrinted, isSame } from '@sqlpipe/catalog';
import { definitions, hasDefinition, type Instance, InstanceError } from '@sqlpipe/instance';
import { type Identity, identify, type Kind, meaningful, statementOf, title, unquote } from '@sqlpipe/sql';

/** Whether the target can show what it made of a statement of this kind. Access control it need not. */
export const canShow = ({ kind, name }: Identity): boolean => hasDefinition(kind) && name !== '';

/** The target's own definition of what a statement makes; undefined where it shows none of that kind and name. */
export async function definitionOf(target: Instance, identity: Identity): Promise<string | undefined> {
  if (isPrincipal(identity.kind)) return principalOf(target, identity);
  const [definition] = canShow(identity) ? await definitions(target, [identity]) : [];
  return definition;
}

/** The categories of a dump that show users, groups and service accounts. */
const CATEGORIES: Partial<Record<Kind, string>> = {
  user: 'USERS',
  group: 'GROUPS',
  'service-account': 'SERVICE_ACCOUNTS',
};

/** What a dump has of a user, a group or a service account. Older servers and the open source edition show none. */
async function principalOf(target: Instance, { kind, name }: Identity): Promise<string | undefined> {
  const isIt = (row: string): boolean => {
    const other = identify(row);
    return other.kind === kind && fold(other.name) === fold(name);
  };
  let found: string | undefined;
  try {
    for await (const rows of target.rows(`SHOW CREATE DATABASE INCLUDE (${CATEGORIES[kind]})`))
      found ??= rows.find(isIt);
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
  }
  return found;
}

/**
 * Whether a statement makes what the target shows. Of users and the like each word counts, and not how it is written:
 * in which form a server prints them is not known.
 */
export const isHeld = (statement: string, existing: string): boolean =>
  isPrincipal(identify(existing).kind) ? words(statement) === words(existing) : isSame(statement, existing);

/** Whether a target that took a statement will be known to have what it makes; what has no name is sent again. */
export function isKnownAgain(statement: string, identity: Identity): boolean {
  if (isPrincipal(identity.kind)) return words(statement) === words(`CREATE ${title(identity)};`);
  return !isObject(identity.kind) || isPrinted(statement);
}

const words = (statement: string): string =>
  fold(Array.from(meaningful(statementOf(statement)), ({ text }) => unquote(text)).join(' '));
