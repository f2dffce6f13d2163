/**
 * The libraries of the programs in one package: dump the schema of an instance, read and write statement streams, `.sql` text
 * and folders, parse and compare statements, sort them by dependency. Nothing here reads or changes the process.
 *
 * ```ts
 * import { dump, identify, resolveInstance, title } from 'sqlpipe';
 *
 * const { env } = process;
 * const target = await resolveInstance('http://localhost:9000', { program: 'mine', env, warn: console.error });
 * for await (const batch of dump(target)) for (const statement of batch) console.log(title(identify(statement)));
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
  isEquivalent,
  type PropertyDifference,
  parseDefinition,
  printDefinition,
  references,
  repair,
  type StatementComparison,
} from '@sqlpipe/ddl';
export {
  FileError,
  FolderError,
  fromText,
  NoPlace,
  readFolder,
  replaceFile,
  TextError,
  toText,
  writeFolder,
  writeText,
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
  type Refusal,
  type Reply,
  type ResolveContext,
  resolveInstance,
  type Target,
} from '@sqlpipe/instance';
export {
  MAX_RECORD,
  type ReadOptions,
  records,
  type Spooled,
  StreamError,
  sink,
  spool,
  statements,
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
  selection,
} from '@sqlpipe/schema';
export {
  conceal,
  type Identity,
  identify,
  KINDS,
  type Kind,
  SplitError,
  Splitter,
  statementOf,
  type Token,
  title,
  tokens,
} from '@sqlpipe/sql';
