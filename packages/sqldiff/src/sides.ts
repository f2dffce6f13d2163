/*! A name in instances.toml stands for that instance. Otherwise, an existing file or folder is read; any other operand is an address. */
import { stat } from 'node:fs/promises';
import { rejectSharedInsecure, UsageError } from '@sqlpipe/cli';
import { readStatementsAt, withoutLocations } from '@sqlpipe/files';
import {
  type ConnectionConfig,
  type DumpOptions,
  dump,
  hasPathSyntax,
  InstanceError,
  listInstances,
  type ResolveContext,
  resolveInstance,
} from '@sqlpipe/instance';
import { StreamError } from '@sqlpipe/records';
import { collectStatements, DuplicateNameError, deduplicate, type MemoryBudget } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import type { Locations } from './locations.js';

export interface Side {
  /** The name in the output; never a secret. */
  label: string;
  /** How to connect, if the side is an instance. */
  config?: ConnectionConfig;
  /** The file or folder, if the side is one; `-` is standard input. */
  path: string;
}

/** A side with its statements, each once. */
export interface LoadedSide extends Side {
  statements: readonly string[];
}

export type LoadedSides = readonly [a: LoadedSide, b: LoadedSide];

/**
 * A single instance gets the credentials of the options and of the variables `SQLDIFF_…`. Two instances have variables of their own,
 * `SQLDIFF_A_…` and `SQLDIFF_B_…`. Credentials that could be meant for either are an error.
 */
export async function resolveOperands(
  [a, b]: readonly [string, string],
  [labelA, labelB]: readonly string[],
  context: Omit<ResolveContext, 'program'>,
): Promise<readonly [a: Side, b: Side]> {
  if (a === '-' && b === '-') throw new UsageError('only one of the two operands can be standard input');
  const names = (await listInstances(context.env)).map(({ name }) => name);
  const [isA, isB] = [await detectInstance(a, names), await detectInstance(b, names)];
  if (isA && isB) rejectSharedCredentials(context);
  const resolveSide = async (path: string, isInstance: boolean, program: string, label?: string): Promise<Side> => {
    if (!isInstance) return { label: label ?? (path === '-' ? 'standard input' : path), path };
    const config = await resolveInstance(path, { ...context, program });
    return { label: label ?? config.name ?? config.label, path: '', config };
  };
  const sides = [
    await resolveSide(a, isA, isB ? 'sqldiff_a' : 'sqldiff', labelA),
    await resolveSide(b, isB, isA ? 'sqldiff_b' : 'sqldiff', labelB),
  ] as const;
  const urls = sides.flatMap(({ config }) => config?.url ?? []);
  rejectSharedInsecure(context.options?.insecure, urls);
  return sides;
}

async function detectInstance(operand: string, names: string[]): Promise<boolean> {
  if (operand === '-') return false;
  if (names.includes(operand)) return true;
  return !hasPathSyntax(operand) && (await stat(operand).catch(() => undefined)) === undefined;
}

/** Rejects credentials that may be for either instance. If SQLDIFF_A_TOKEN and SQLDIFF_B_TOKEN are set, SQLDIFF_TOKEN does no harm. */
function rejectSharedCredentials({ env, options }: Omit<ResolveContext, 'program'>): void {
  const { user, passwordFile, tokenFile } = options ?? {};
  if ((user ?? passwordFile ?? tokenFile) !== undefined)
    throw new UsageError(
      'it is not clear which of the two instances --user, --password-file and --token-file are for; see CREDENTIALS in sqldiff(1)',
    );
  const has = (side: 'A' | 'B', what: string) => Boolean(env[`SQLDIFF_${side}_${what}`]);
  const isDecided = (side: 'A' | 'B', what: string) =>
    has(side, what) || has(side, 'TOKEN') || (has(side, 'USER') && has(side, 'PASSWORD'));
  const isShared = (what: string) => env[`SQLDIFF_${what}`] && !(isDecided('A', what) && isDecided('B', what));
  const [variable] = ['USER', 'PASSWORD', 'TOKEN'].filter(isShared).map(what => `SQLDIFF_${what}`);
  if (variable)
    throw new InstanceError(
      'CONFIG',
      `it is not clear which of the two instances ${variable} is for; set ${variable.replace('_', '_A_')} or ${variable.replace('_', '_B_')}`,
    );
}

export interface ReadSideOptions extends Pick<DumpOptions, 'maxRecord' | 'selection' | 'warn' | 'info'> {
  budget: MemoryBudget;
  locations: Locations | undefined;
  stdin: AsyncIterable<string>;
}

export async function readSide(side: Side, options: ReadSideOptions): Promise<LoadedSide> {
  const { config, path } = side;
  const { selection, maxRecord, warn, info, stdin, budget, locations } = options;
  const located = readStatementsAt(path, maxRecord);
  const ofFile = locations ? locations.recordLocations(located) : withoutLocations(located);
  const stored = path === '-' ? stdin : ofFile;
  const read = config ? dump(config, { selection, maxRecord, reportInvalid: false, warn, info }) : stored;
  const isSelected = (statement: string) => selection.selects(identify(statement).kind);
  try {
    return { ...side, statements: deduplicate(await collectStatements(read, isSelected, budget)) };
  } catch (error) {
    throw addLabel(error, side);
  }
}

/** Adds the side to an error that lacks it. A rejection gets another code, because its status would mean that the sides differ. */
function addLabel(error: unknown, { label, path }: Side): unknown {
  if ((error instanceof StreamError && path === '-') || error instanceof DuplicateNameError)
    return new CodedError(error.code, `${label}: ${error.message}`, { cause: error });
  if (error instanceof InstanceError && error.code === 'REJECTED')
    return new CodedError('UNREACHABLE', error.message, { cause: error });
  return error;
}
