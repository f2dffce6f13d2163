/*! Sends requests as different users, directly to a server. */
import { httpGet, type Server } from './server.js';

export interface Answer {
  status: number;
  ddl?: string;
  error?: string;
  position?: number;
  columns?: { name: string; type: string }[];
  dataset?: unknown[][];
}

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

export const bearer = (token: string): string => `Bearer ${token}`;

export const admin = basic('admin', 'quest');

/** The variables with which our programs log in as a user, the administrator unless another one is given. */
export const loginAs = (user = 'admin', password = user === 'admin' ? 'quest' : user): Record<string, string> =>
  Object.fromEntries(
    ['SQLDUMP', 'SQLAPPLY', 'SQLDIFF', 'SQLDIFF_A', 'SQLDIFF_B', 'SQLPIPE'].flatMap(name => [
      [`${name}_USER`, user],
      [`${name}_PASSWORD`, password],
    ]),
  );

/** Runs one statement as the user in the header. The reply to a rejected login has only a status. */
export async function executeAs({ url }: Pick<Server, 'url'>, authorization: string, sql: string): Promise<Answer> {
  const { status, body } = await httpGet(`${url}/exec?${new URLSearchParams({ query: sql })}`, authorization);
  return { status, ...(body.startsWith('{') ? (JSON.parse(body) as object) : {}) };
}

export async function setUp(server: Pick<Server, 'url'>, ...statements: string[]): Promise<void> {
  for (const sql of statements) {
    const { error, status } = await executeAs(server, admin, sql);
    if (status !== 200) throw new Error(`${sql}: ${status} ${error}`);
  }
}

/** What SHOW PERMISSIONS gives for a user, a group or a service account: permission, table, column and grant option in one text each. */
export const permissionsOf = async (server: Pick<Server, 'url'>, name: string): Promise<string[]> =>
  ((await executeAs(server, admin, `SHOW PERMISSIONS ${name}`)).dataset ?? []).map(row => row.slice(0, 4).join(' '));
