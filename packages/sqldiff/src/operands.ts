/*!
 * What an operand stands for: an instance, or statements at rest. A name in instances.toml is that instance, as in all
 * programs; then an existing file; then an address.
 */
import { stat } from 'node:fs/promises';
import { UsageError } from '@sqlpipe/cli';
import { DEFAULTS, type Defaults } from '@sqlpipe/ddl';
import {
  connect,
  fetchDefaults,
  InstanceError,
  type InstanceOptions,
  listInstances,
  type ResolveContext,
  type ResolvedInstance,
  resolveInstance,
} from '@sqlpipe/instance';

/** One of the two that are compared. */
export interface Side {
  /** What it is called in the output; never a secret. */
  label: string;
  /** Where it is, if it is an instance. */
  target?: ResolvedInstance;
  /** Where it is, if it is a file or a folder; `-` is standard input. */
  path: string;
}

/** The two, in the order of the operands. */
export type Sides = [a: Side, b: Side];

/**
 * What the two operands stand for, with the credentials of each.
 *
 * One instance gets what the options and the variables `SQLDIFF_…` say. Of two, each has variables of its own,
 * `SQLDIFF_A_…` and `SQLDIFF_B_…`, and what could be meant for either is given to none.
 * @throws UsageError, InstanceError
 */
export async function resolveOperands(
  operands: [string, string],
  context: Omit<ResolveContext, 'program'>,
): Promise<Sides> {
  if (operands.every(operand => operand === '-'))
    throw new UsageError('only one of the two operands can be standard input');
  const names = (await listInstances(context.env)).map(({ name }) => name);
  const [a, b] = operands;
  const [isA, isB] = [await isInstance(a, names), await isInstance(b, names)];
  if (isA && isB) rejectSharedCredentials(context);
  const side = async (operand: string, isOne: boolean, program: string): Promise<Side> => {
    if (!isOne) return { label: operand === '-' ? 'standard input' : operand, path: operand };
    const target = await resolveInstance(operand, { ...context, program });
    return { label: target.name ?? target.label, path: '', target };
  };
  const sides: Sides = [
    await side(a, isA, isB ? 'sqldiff_a' : 'sqldiff'),
    await side(b, isB, isA ? 'sqldiff_b' : 'sqldiff'),
  ];
  if (context.options?.insecure && sides.every(({ target }) => target?.url.protocol === 'https:'))
    throw new UsageError(
      '--insecure would accept any certificate from both instances; to accept any from one of them, set tls_verify = false in its entry in instances.toml, or tls_verify=unsafe_off; in its configuration string',
    );
  return sides;
}

/** What looks like a path is one, so that a file that is missing is not looked for on the network. */
const PATH = /^[./~]|\.(sql|stream)$/;

async function isInstance(operand: string, names: string[]): Promise<boolean> {
  if (operand === '-') return false;
  if (names.includes(operand)) return true;
  const isThere = await stat(operand).then(
    () => true,
    () => false,
  );
  return !isThere && !PATH.test(operand);
}

/** Credentials that may belong to either of two instances would go to both. */
function rejectSharedCredentials({ env, options }: Omit<ResolveContext, 'program'>): void {
  const areCredentialsGiven = (['user', 'passwordFile', 'tokenFile'] as const satisfies (keyof InstanceOptions)[]).some(
    option => options?.[option] !== undefined,
  );
  if (areCredentialsGiven)
    throw new UsageError(
      'it is not clear which of the two instances --user, --password-file and --token-file are for; see CREDENTIALS in sqldiff(1)',
    );
  const variable = ['SQLDIFF_USER', 'SQLDIFF_PASSWORD', 'SQLDIFF_TOKEN'].find(name => env[name]);
  if (variable)
    throw new InstanceError(
      'CONFIG',
      `it is not clear which of the two instances ${variable} is for; set ${variable.replace('_', '_A_')} or ${variable.replace('_', '_B_')}`,
    );
}

/**
 * What the instance fills in that a file is compared with. Two instances print what they filled in; two files are compared
 * as a server without configuration reads them.
 */
export async function fetchTargetDefaults([a, b]: Sides): Promise<Defaults> {
  const target = a.target ?? b.target;
  if (!target || (a.target && b.target)) return DEFAULTS;
  const instance = connect(target);
  try {
    return await fetchDefaults(instance);
  } finally {
    await instance.close();
  }
}
