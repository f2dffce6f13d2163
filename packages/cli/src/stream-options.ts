/*! Options that several programs share, because they read or write the same stream. */

import { UsageError } from './exit.js';

/** `--include`: which part of a schema to include. */
export const INCLUDE_OPTION = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'select kinds such as table, or TABLES, ACL, …',
} as const;

/** `--exclude`: which part of a schema to leave out. */
export const EXCLUDE_OPTION = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'select everything except these',
} as const;

/** `--allow-loss`: what a plan of changes may lose. */
export const ALLOW_LOSS_OPTION = {
  type: 'string',
  array: true,
  default: [],
  describe: 'allow one loss, such as drop:trades.qty',
} as const;

/** `--annotations`: findings for a GitHub workflow. */
export const ANNOTATIONS_OPTION = {
  type: 'boolean',
  default: false,
  describe: 'print findings as GitHub annotations',
} as const;

/** `--renamed`: what a plan of changes renames. */
export const RENAMED_OPTION = {
  type: 'string',
  array: true,
  default: [],
  describe: 'with --alter: a renamed object or column',
} as const;

/** `--output`: the file to write. */
export const OUTPUT_OPTION = {
  alias: 'o',
  type: 'string',
  requiresArg: true,
  describe: 'write to FILE; NAME.sql gets text',
} as const;

/** `--max-record`. @param bytes the default limit */
export const maxRecordOption = (bytes: number) =>
  ({
    type: 'number',
    default: bytes,
    requiresArg: true,
    describe: 'maximum length of a record',
    coerce: parseMaxRecord,
  }) as const;

/** Checks the number, or all numbers if the option is repeated. @throws UsageError for an invalid number */
function parseMaxRecord(given: number): number {
  if (![given].flat().every(number => Number.isInteger(number) && number >= 1))
    throw new UsageError('--max-record must be a whole number of at least 1');
  return given;
}
