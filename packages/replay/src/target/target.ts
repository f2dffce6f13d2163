import type { Right } from '@sqlpipe/ddl';
import {
  type Client,
  type ConnectionConfig,
  connect,
  dump,
  fetchInstanceFacts,
  fetchRightsOf,
  InstanceError,
  type InstanceFacts,
  tryIfAccepted,
} from '@sqlpipe/instance';
import { collectStatements } from '@sqlpipe/schema';
import { CodedError } from '@sqlpipe/text';

/** The clients of the target of a replay. `jobClients` has one for each statement that may be in flight. */
export type ReplayTarget = Awaited<ReturnType<typeof openTarget>>;

/** Connects to a target. A protected instance is changed only if `yesTo` is its name. @throws CodedError if it is not */
export async function openTarget(
  config: ConnectionConfig,
  { jobs, dryRun, yesTo }: { readonly jobs: number; readonly dryRun: boolean; readonly yesTo?: string | undefined },
) {
  const names = dryRun ? [] : ((await config.protectedNames?.()) ?? []);
  const [name] = names;
  if (name !== undefined && (yesTo === undefined || !names.includes(yesTo)))
    throw new CodedError('USAGE', `${name} is protected; to change it, give --yes-to=${name}`);
  const jobClients = Array.from({ length: jobs }, () => connect(config));
  const client = jobClients.length === 1 ? (jobClients[0] as Client) : connect(config);
  /** Also closed by `close()`, such as a spool whose statements were not all read. */
  const resources: { close(): Promise<void> }[] = [client, ...jobClients];
  const close = async () => void (await Promise.all(resources.map(each => each.close())));
  return { config, jobClients, client, resources, close };
}

/** The schema of the target, and what determines the effects of a statement. */
export interface TargetSchema extends InstanceFacts {
  readonly statements: readonly string[];
  /** The account that executes the statements; undefined if there is none. */
  readonly account?: { readonly name: string; readonly rights: readonly Right[] | undefined } | undefined;
}

/** @param warn receives what may be missing in the schema @throws InstanceError */
export async function fetchTargetSchema(
  config: ConnectionConfig,
  client: Client,
  warn: (message: string) => void,
): Promise<TargetSchema> {
  const statements = await collectStatements(dump(config, { reportInvalid: false, warn }));
  const { user: name } = config;
  // The open source edition does not show rights.
  const account = name === undefined ? undefined : { name, rights: await tryIfAccepted(fetchRightsOf(client, name)) };
  return { statements, ...(await fetchInstanceFacts(client, warn)), account };
}

/** As `fetchTargetSchema`, or why the account may not read the schema. @throws InstanceError if the target gives no answer */
export const fetchSchemaIfShown = (...from: Parameters<typeof fetchTargetSchema>) =>
  fetchTargetSchema(...from).catch((error): { readonly hiddenReason: string } => {
    if (error instanceof InstanceError && error.serverMessage !== undefined)
      return { hiddenReason: error.serverMessage };
    throw error;
  });
