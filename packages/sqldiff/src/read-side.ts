/*! The statements of one side, all of them: nothing is compared with half a schema. */
import { readSource } from '@sqlpipe/files';
import { type DumpOptions, dump, InstanceError } from '@sqlpipe/instance';
import { StreamError } from '@sqlpipe/records';
import { collectStatements, DuplicateNameError, deduplicate, type MemoryBudget, type Selection } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import type { Side } from './operands.js';

export interface ReadSideOptions extends Pick<DumpOptions, 'warn'> {
  maxRecord: number;
  selection: Selection;
  /** For the statements of both sides. */
  budget: MemoryBudget;
  /** The statements of standard input. */
  stdin: AsyncIterable<string>;
}

/**
 * The statements of a side that are selected, each once.
 * @throws what reading it says: InstanceError, StreamError, TextError, DuplicateNameError, errors of the file system
 */
export async function readSide({ target, path, label }: Side, options: ReadSideOptions): Promise<string[]> {
  const { selection, maxRecord, warn, stdin, budget } = options;
  const atRest = path === '-' ? stdin : readSource(path, maxRecord);
  const source = target ? dump(target, { selection, maxRecord, warn }) : atRest;
  try {
    return deduplicate(
      await collectStatements(source, statement => selection.selects(identify(statement).kind), budget),
    );
  } catch (error) {
    throw addLabel(error as NodeJS.ErrnoException, label);
  }
}

/** What went wrong, and on which side where the error does not say. A rejection by a server does not say that they differ. */
function addLabel(error: NodeJS.ErrnoException, label: string): Error {
  if (error instanceof StreamError || error instanceof DuplicateNameError)
    return new StreamError(`${label}: ${error.message}`, { cause: error });
  if (error instanceof InstanceError && error.code === 'REFUSED')
    return new InstanceError('UNREACHABLE', error.message, { cause: error });
  return error;
}
