import { lookup } from 'node:dns/promises';
import { RejectionError } from '@sqlpipe/ddl/parser';
import type { ColumnNaming } from '@sqlpipe/engine';
import { DEFAULT_REQUEST_BUFFER, findSecrets } from '@sqlpipe/sql';
import { CodedError, maskSecrets } from '@sqlpipe/text';
import { startHttpServer } from './http-server.js';
import { openJournal } from './journal.js';
import { DEFAULT_ADMIN, type EditionName, type LoginCredentials } from './logins.js';
import { createRouter, isLoopback } from './routes.js';
import { Service } from './service.js';

const FULL_VERSIONS = { '9.3': '9.3.4', '9.4': '9.4.4', '10': '10.0.0' } as const;

/** A version of QuestDB that can be emulated. */
export type EmulatedVersion = keyof typeof FULL_VERSIONS;

/** All of them, the newest last. */
export const EMULATED_VERSIONS: readonly EmulatedVersion[] = ['9.3', '9.4', '10'];

interface InitialSchema {
  readonly label: string;
  readonly statements: AsyncIterable<string | readonly string[]>;
}

/** How to start a server. */
export interface ServerOptions {
  readonly edition: EditionName;
  /** The version whose statements are accepted; by default the newest. */
  readonly questdb?: EmulatedVersion;
  /** The only login of the open source edition, by default none; or the administrator of the enterprise edition. */
  readonly login?: LoginCredentials | undefined;
  readonly address: string;
  readonly port: number;
  /** Host names of requests that are allowed besides those of this machine. */
  readonly allowHost?: readonly string[];
  readonly requestLimit?: number;
  /** How the columns of a query are named if they have no alias. */
  readonly naming?: ColumnNaming;
  /** The folder that keeps the schema. Without it, nothing is kept. */
  readonly data?: string | undefined;
  /** Executed in this order, unless the folder has a schema. */
  readonly load?: readonly InitialSchema[];
  /** Called for each request that has ended, with a line that contains no secret. */
  readonly logRequest?: ((line: string) => void) | undefined;
}

/** A server that answers. */
export interface RunningServer {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** Whether the folder had a schema, so that nothing was loaded. */
  readonly isRestored: boolean;
  /** Closes every connection, and then the folder. Further calls do nothing. */
  close(): Promise<void>;
}

/** Starts a server. @throws CodedError for a rejected statement or an unusable folder; errors of the system if it cannot listen */
export async function startServer({
  edition,
  questdb = '10',
  login,
  address,
  port,
  allowHost = [],
  requestLimit = DEFAULT_REQUEST_BUFFER,
  naming = 'by expression',
  data,
  load = [],
  logRequest,
}: ServerOptions): Promise<RunningServer> {
  const service = new Service(edition, login, { naming, version: FULL_VERSIONS[questdb] });
  let isRestored = data !== undefined;
  const loadAll = async () => {
    isRestored = false;
    const caller = { name: (login ?? DEFAULT_ADMIN).user };
    for (const schema of load) await loadSchema(schema, statement => service.execute(statement, caller));
  };
  if (data === undefined) await loadAll();
  service.journal = data === undefined ? undefined : await openJournal(data, service.engine, loadAll);
  try {
    const { acl } = service.engine;
    // The administrator is not stored, so no stored principal may have this name.
    const { kind, name } = (service.isEnterprise && acl.find(acl.admin)) || {};
    if (kind)
      throw new CodedError(
        'CONFIG',
        `QDB_ACL_ADMIN_USER: the folder of --data has a ${kind} called '${name}'; choose another name`,
      );
    const isPublic = !isLoopback((await lookup(address)).address);
    const hosts = isPublic && allowHost.length === 0 ? undefined : new Set(allowHost.map(host => host.toLowerCase()));
    const answer = createRouter(service, hosts);
    const httpServer = await startHttpServer({ address, port, answer, requestLimit, logRequest });
    let closed: Promise<void> | undefined;
    return {
      url: `http://${address.includes(':') ? `[${address}]` : address}:${httpServer.port}`,
      isRestored,
      close() {
        closed ??= httpServer.close().then(() => service.close());
        return closed;
      },
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

async function loadSchema({ label, statements }: InitialSchema, execute: (statement: string) => Promise<unknown>) {
  let number = 0;
  for await (const batch of statements)
    for (const statement of [batch].flat()) {
      number++;
      await execute(statement).catch(error => {
        if (!(error instanceof RejectionError)) throw error;
        const [firstLine] = statement.split('\n', 1);
        const reason = maskSecrets(`${error.message} (at ${error.position} of: ${firstLine})`, findSecrets(statement));
        throw new CodedError('REJECTED', `${label}: statement ${number}: ${reason}`);
      });
    }
}
