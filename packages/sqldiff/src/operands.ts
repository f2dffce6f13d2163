/*!
 * What an operand stands for: an instance, or a file or folder of statements. A name in instances.toml stands for that
 * instance, as in all programs; then the path of an existing file or folder for that; any other operand is an address.
 */
import { stat } from 'node:fs/promises';
import { rejectSharedInsecure, UsageError } from '@sqlpipe/cli';
import {
  InstanceError,
  type InstanceOptions,
  listInstances,
  type ResolveContext,
  type ResolvedInstance,
  resolveInstance,
} from '@sqlpipe/instance';

/** One of the two that are compared. */
export interface Side {
  /** The name in the output; never a secret. */
  label: string;
  /** The instance, if the side is one. */
  target?: ResolvedInstance;
  /** The file or folder, if the side is one; `-` is standard input. */
  path: string;
}

/** The two, in the order of the operands. */
export type Sides = [a: Side, b: Side];

/**
 * What the two operands stand for, with the credentials of each.
 *
 * A single instance gets the credentials of the options and of the variables `SQLDIFF_…`. Two instances have variables
 * of their own, `SQLDIFF_A_…` and `SQLDIFF_B_…`; credentials that could be meant for either are an error.
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
  const resolveSide = async (operand: string, isInstance: boolean, program: string): Promise<Side> => {
    if (!isInstance) return { label: operand === '-' ? 'standard input' : operand, path: operand };
    const target = await resolveInstance(operand, { ...context, program });
    return { label: target.name ?? target.label, path: '', target };
  };
  const sides: Sides = [
    await resolveSide(a, isA, isB ? 'sqldiff_a' : 'sqldiff'),
    await resolveSide(b, isB, isA ? 'sqldiff_b' : 'sqldiff'),
  ];
  rejectSharedInsecure(
    context.options?.insecure,
    sides.flatMap(({ target }) => target?.url ?? []),
  );
  return sides;
}

/** An operand of this form is a path, even if no such file exists: it must not be tried as a host name. */
const PATH = /^[./~]|\.(sql|stream)$/;

async function isInstance(operand: string, names: string[]): Promise<boolean> {
  if (operand === '-') return false;
  if (names.includes(operand)) return true;
  const exists = await stat(operand).then(
    () => true,
    () => false,
  );
  return !exists && !PATH.test(operand);
}

/** Rejects credentials that may belong to either of two instances, because they would be sent to both. */
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
