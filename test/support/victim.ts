/*! A table on a throw-away server, and all that could happen to it or beside it. */
import type { Server } from './server.js';

/** The names of all objects, the victim's rows and its columns, in one request. */
const QUESTION = `SELECT table_name a FROM tables() UNION ALL SELECT x::string FROM victim
  UNION ALL SELECT concat("column", ' ', type) FROM table_columns('victim')`;

/** Empties a server, puts the victim there, and gives its state. */
export async function putVictim(server: Server): Promise<string[]> {
  await server.empty();
  await server.execute('CREATE TABLE victim (x INT)');
  await server.execute('INSERT INTO victim VALUES (7)');
  return stateOf(server);
}

/** What the server holds now, in an order of ours; the server's error where the victim is gone. */
export async function stateOf(server: Server): Promise<string[]> {
  const { dataset, error } = await server.execute(QUESTION);
  return (dataset ?? [[error]]).flat().map(String).sort();
}
