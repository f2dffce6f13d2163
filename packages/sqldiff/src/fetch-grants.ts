/*! With --include or --exclude, grants may be left out of a comparison. A plan keeps those of B, so it has to know them. */
import { printRight, type Right } from '@sqlpipe/ddl';
import {
  type Client,
  type ConnectionConfig,
  fetchPrincipals,
  fetchRights,
  fetchRightsOf,
  InstanceError,
  isEnterprise,
  withClient,
} from '@sqlpipe/instance';
import { identify } from '@sqlpipe/sql';

/** The grants of an instance as statements, or why it does not show them. @throws InstanceError if it gives no answer */
export const fetchGrants = (config: ConnectionConfig): Promise<{ grants: string[]; hiddenGrants?: string }> =>
  withClient(config, async client => {
    if (!(await isEnterprise(client))) return { grants: [] };
    try {
      const rights = (await fetchRights(client)) ?? (await fetchRightsOfAll(client));
      return { grants: rights.flatMap(right => (right.kind === 'grant' ? printRight(right) : [])) };
    } catch (error) {
      if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
      return { grants: [], hiddenGrants: error.serverMessage };
    }
  });

/** For a server that shows only the rights of one principal at a time. */
async function fetchRightsOfAll(client: Client): Promise<Right[]> {
  const rights: Right[] = [];
  for (const statement of await fetchPrincipals(client))
    rights.push(...(await fetchRightsOf(client, identify(statement).name)));
  return rights;
}
