/**
 * sqlpipe as a library: what the programs do, as functions. It writes to no terminal, and reads environment variables only if
 * an instance has `env`. Errors have a code; `ErrorCode` says when. Each function throws `USAGE` for wrong arguments. Reading a
 * schema throws what `dump` throws for an instance, and what `split` throws for a path. Messages and hints name options as the
 * programs do: `--if-exists` is `ifExists`.
 *
 * @packageDocumentation
 */
export type { Column, Definition, PropertyDifference } from '@sqlpipe/ddl';
export type { Kind } from '@sqlpipe/sql';
export { type Diff, type Difference, type DiffOptions, diff, type Problem } from './diff.js';
export { type DumpOptions, dump } from './dump.js';
export { type ErrorCode, isSqlpipeError, type SqlpipeError } from './errors.js';
export type { Instance, InstanceOptions, OnWarning } from './instance.js';
export { join } from './join.js';
export { parse, print, type Statement } from './parse.js';
export { type Omission, type Plan, type PlanOptions, plan } from './plan.js';
export { type Outcome, type ReplayOptions, replay } from './replay.js';
export type { SchemaSource } from './schema.js';
export { type ServeOptions, type Server, serve } from './serve.js';
export { split } from './split.js';
