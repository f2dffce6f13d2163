/**
 * The libraries of the programs in one package: dump the schema of an instance, read and write statement streams, `.sql` text
 * and folders, parse and compare statements, sort them by dependency. Nothing here reads or changes the process.
 *
 * ```ts
 * import { displayName, dump, identify, resolveInstance } from 'sqlpipe';
 *
 * const { env } = process;
 * const target = await resolveInstance('http://localhost:9000', { program: 'mine', env, warn: console.error });
 * for await (const batch of dump(target)) for (const statement of batch) console.log(displayName(identify(statement)));
 * ```
 *
 * Errors have a `code`: `REFUSED`, `DAMAGED`, `NOINPUT`, `UNREACHABLE`, `IO`, `PROTOCOL`, `DENIED`, `CONFIG`, `USAGE`.
 *
 * @packageDocumentation
 */
export {
  type Column,
  type CompareOptions,
  type Comparison,
  compareStatements,
  type Defaults,
  type Definition,
  findReferences,
  isEquivalent,
  type PropertyDifference,
  parseDefinition,
  printDefinition,
  repair,
  type StatementComparison,
} from '@sqlpipe/ddl';
export {
  FileError,
  FolderError,
  formatSqlText,
  parseSqlText,
  readFolder,
  TextError,
  UnmappableStatementError,
  writeFileAtomic,
  writeFolder,
  writeSqlText,
} from '@sqlpipe/files';
export {
  type ConnectionConfig,
  connect,
  type DumpOptions,
  dump,
  type Instance,
  InstanceError,
  type InstanceErrorCode,
  type InstanceOptions,
  listInstances,
  type Rejection,
  type Reply,
  type ResolveContext,
  resolveInstance,
} from '@sqlpipe/instance';
export {
  createCommitWriter,
  decodeRecords,
  encodeRecords,
  MAX_RECORD,
  type ReadOptions,
  type Spooled,
  StreamError,
  spool,
} from '@sqlpipe/records';
export {
  Catalog,
  compareSchemas,
  type Difference,
  DuplicateNameError,
  deduplicate,
  dumpOrder,
  type Entry,
  findCycle,
  InvalidSelectionError,
  parseSelection,
  type SchemaComparison,
  type Selection,
} from '@sqlpipe/schema';
export {
  displayName,
  type Identity,
  identify,
  KINDS,
  type Kind,
  normalizeStatement,
  redact,
  SplitError,
  Splitter,
  type Token,
  tokens,
} from '@sqlpipe/sql';
