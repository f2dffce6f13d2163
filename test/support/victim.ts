/*! A table on a test server, and the state that an injected statement could change. */
import type { Server } from './server.js';

/** Queries the names of all objects, and the rows and columns of the victim, in one request. */
const STATE_QUERY = `SELECT table_name a FROM tables() UNION ALL SELECT x::string FROM victim
  UNION ALL SELECT concat("column", ' ', type) FROM table_columns('victim')`;

export async function putVictim(server: Server): Promise<string[]> {
  await server.dropAll();
  await server.execute('CREATE TABLE victim (x INT)');
  await server.execute('INSERT INTO victim VALUES (7)');
  return stateOf(server);
}

/** The current state, sorted; the server's error if the victim does not exist. */
export async function stateOf(server: Server): Promise<string[]> {
  const { dataset, error } = await server.execute(STATE_QUERY);
  return (dataset ?? [[error]]).flat().map(String).sort();
}
