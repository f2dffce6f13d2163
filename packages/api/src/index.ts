/**
 * The libraries of the programs as one: an instance's schema as statements, the statement stream, `.sql` text and
 * folders, and what statements make and need. Nothing here touches the process.
 *
 * ```ts
 * import { dump, identify, resolveInstance, title } from 'sqlpipe';
 *
 * const { env } = process;
 * const target = await resolveInstance('http://localhost:9000', { program: 'mine', env, warn: console.error });
 * for await (const batch of dump(target)) for (const statement of batch) console.log(title(identify(statement)));
 * ```
 *
 * Errors carry a `code`: `REFUSED`, `DAMAGED`, `NOINPUT`, `UNREACHABLE`, `IO`, `PROTOCOL`, `DENIED_HELP`, `CONFIG`, `USAGE`.
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
  isEquivalent,
  type PropertyDifference,
  parseDefinition,
  printDefinition,
  findReferences,
  repair,
  type StatementComparison,
} from '@sqlpipe/ddl';
export {
  FileError,
  FolderError,
  parseSqlText,
  UnmappableStatementError,
  readFolder,
  writeFileAtomic,
  TextError,
  formatSqlText,
  writeFolder,
  writeSqlText,
} from '@sqlpipe/files';
export {
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
  type ConnectionConfig,
} from '@sqlpipe/instance';
export {
  MAX_RECORD,
  type ReadOptions,
  encodeRecords,
  type Spooled,
  StreamError,
  createCommitWriter,
  spool,
  decodeRecords,
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
  type SchemaComparison,
  type Selection,
  parseSelection,
} from '@sqlpipe/schema';
export {
  redact,
  type Identity,
  identify,
  KINDS,
  type Kind,
  SplitError,
  Splitter,
  normalizeStatement,
  type Token,
  displayName,
  tokens,
} from '@sqlpipe/sql';
