/*! Reads all statements of one side: an incomplete schema is never compared. */
import { readLocatedSource, readSource } from '@sqlpipe/files';
import { type DumpOptions, dump, InstanceError } from '@sqlpipe/instance';
import { StreamError } from '@sqlpipe/records';
import { collectStatements, DuplicateNameError, deduplicate, type MemoryBudget, type Selection } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import type { Locations } from './locations.js';
import type { Side } from './operands.js';

export interface ReadSideOptions extends Pick<DumpOptions, 'warn' | 'note'> {
  maxRecord: number;
  selection: Selection;
  /** Shared by the statements of both sides. */
  budget: MemoryBudget;
  /** Receives where the statements of files are. */
  locations: Locations | undefined;
  /** The statements of standard input. */
  stdin: AsyncIterable<string>;
}

/**
 * The selected statements of a side, each once.
 * @throws InstanceError, StreamError, TextError, DuplicateNameError, errors of the file system
 */
export async function readSide({ target, path, label }: Side, options: ReadSideOptions): Promise<string[]> {
  const { selection, maxRecord, warn, note, stdin, budget, locations } = options;
  const readFile = () => locations?.record(readLocatedSource(path, maxRecord)) ?? readSource(path, maxRecord);
  const stored = path === '-' ? stdin : readFile();
  const source = target ? dump(target, { selection, maxRecord, reportInvalid: false, warn, note }) : stored;
  try {
    return deduplicate(
      await collectStatements(source, statement => selection.selects(identify(statement).kind), budget),
    );
  } catch (error) {
    throw addLabel(error as NodeJS.ErrnoException, label);
  }
}

/**
 * Adds the side to errors that do not name it. A rejection by a server gets another code: the status for it would mean
 * that the sides differ.
 */
function addLabel(error: NodeJS.ErrnoException, label: string): Error {
  if (error instanceof StreamError || error instanceof DuplicateNameError)
    return new StreamError(`${label}: ${error.message}`, { cause: error });
  if (error instanceof InstanceError && error.code === 'REJECTED')
    return new InstanceError('UNREACHABLE', error.message, { cause: error });
  return error;
}
