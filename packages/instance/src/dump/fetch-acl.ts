/*! Reads users, groups, service accounts and their rights: through the dump, or through SHOW on servers without it. */
import { type Membership, parseRights, printRight, quoteAclName, type Right } from '@sqlpipe/ddl';
import { collectStatements, RightSet } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import type { Client } from '../http/client.js';
import { tryQuery } from '../http/optional-queries.js';
import { InstanceError } from '../instance-error.js';
import { fetchWhetherEnterprise } from '../reports/instance-facts.js';

/** The statements of a dump that create users, groups and service accounts. @throws InstanceError if the instance does not show them */
export async function fetchPrincipals(client: Client): Promise<string[]> {
  const dumpedStatements = await fetchDumpIfKnown(client, 'USERS, GROUPS, SERVICE_ACCOUNTS');
  if (dumpedStatements) return dumpedStatements;
  const statements: string[] = [];
  for (const kind of ['USER', 'GROUP', 'SERVICE ACCOUNT'])
    for (const [name] of await client.queryRows(`SHOW ${kind}S`))
      statements.push(`CREATE ${kind} ${quoteAclName(String(name))};`);
  return statements;
}

/** All granted rights; undefined if the instance shows only those of one principal at a time. @throws InstanceError */
export async function fetchRights(client: Client): Promise<Right[] | undefined> {
  const statements = await fetchDumpIfKnown(client, 'PERMISSIONS');
  return statements?.flatMap(statement => parseRights(statement) ?? []);
}

/**
 * The rights that were granted to one user, group or service account. An unknown name has no rights. Servers also list the rights of a
 * user's groups as the user's own. So a right that a group has too counts as the group's only.
 * @throws InstanceError if the instance does not show them
 */
export async function fetchRightsOf(client: Client, name: string): Promise<Right[]> {
  // Groups and service accounts are in no group; for them a server may report an error.
  const rows = await fetchRowsIfExists(client, `SHOW GROUPS ${quoteAclName(name)}`);
  const groups = rows.map(([group]) => String(group));
  const inherited = new RightSet();
  for (const group of groups) for (const right of await fetchListedRights(client, group)) inherited.add(right);
  const rights = await fetchListedRights(client, name);
  const own = rights.filter(right => !groups.some(entity => inherited.includes({ ...right, entity })));
  return [...groups.map((group): Right => ({ kind: 'membership', user: name, group })), ...own];
}

/** The grants of an instance as statements, or why it does not show them. @throws InstanceError if it gives no answer */
export async function fetchGrants(client: Client): Promise<{ grants: string[]; hiddenGrants?: string }> {
  if (!(await fetchWhetherEnterprise(client))) return { grants: [] };
  try {
    const rights = (await fetchRights(client)) ?? (await fetchRightsOfAll(client));
    return { grants: rights.flatMap(right => (right.kind === 'grant' ? printRight(right) : [])) };
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
    return { grants: [], hiddenGrants: error.serverMessage };
  }
}

async function fetchRightsOfAll(client: Client): Promise<Right[]> {
  const rights: Right[] = [];
  for (const statement of await fetchPrincipals(client))
    rights.push(...(await fetchRightsOf(client, identify(statement).name)));
  return rights;
}

/**
 * The documented columns of permissions are permission, table_name, column_name, grant_option and origin, where `I` means implied by
 * others. Those of service accounts are name and grant_option.
 */
async function fetchListedRights(client: Client, entity: string): Promise<Exclude<Right, Membership>[]> {
  const grants = await fetchRowsIfExists(client, `SHOW PERMISSIONS ${quoteAclName(entity)}`);
  const accounts = await fetchRowsIfExists(client, `SHOW SERVICE ACCOUNTS ${quoteAclName(entity)}`);
  const nameIn = (cell: unknown): string | undefined => (cell === null || cell === '' ? undefined : String(cell));
  return [
    ...grants
      .filter(([, , , , origin]) => origin !== 'I')
      .map(([permission, table, column, grantOption]) => {
        const scope = { table: nameIn(table), column: nameIn(column), entity };
        return {
          kind: 'grant' as const,
          permission: String(permission),
          ...scope,
          hasGrantOption: isTrue(grantOption),
        };
      }),
    ...accounts.map(([cell, grantOption]) => {
      const account = String(cell);
      return { kind: 'assumption' as const, account, entity, hasGrantOption: isTrue(grantOption) };
    }),
  ];
}

const fetchRowsIfExists = async (client: Client, query: string): Promise<unknown[][]> =>
  (await tryQuery(client.queryRows(query), error => error.matches(/does not exist|not found/i))) ?? [];

/** The lists differ in the type of cell that means true. */
const isTrue = (cell: unknown): boolean => cell === true || cell === 'true' || cell === 't';

/** Whether the rows of SHOW USER or SHOW SERVICE ACCOUNT list an enabled password, key or token. */
export const hasCredentials = (rows: unknown[][]): boolean => rows.some(([, enabled]) => isTrue(enabled));

const fetchDumpIfKnown = (client: Client, categories: string): Promise<string[] | undefined> =>
  tryQuery(
    collectStatements(client.streamFirstColumn(`SHOW CREATE DATABASE INCLUDE (${categories})`)),
    ({ code }) => code === 'REJECTED',
  );
