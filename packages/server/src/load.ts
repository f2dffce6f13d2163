/*! Statements that are executed before the server listens. */
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { findSecrets } from '@sqlpipe/sql';
import { CodedError, maskSecrets } from '@sqlpipe/text';

/** Statements, one or many at once, and what they are called in messages. */
export interface InitialSchema {
  readonly label: string;
  readonly statements: AsyncIterable<string | readonly string[]>;
}

/** Executes every statement. @throws CodedError at the first rejection, and errors of reading */
export async function loadSchema(
  { label, statements }: InitialSchema,
  execute: (statement: string) => Promise<unknown>,
): Promise<void> {
  let number = 0;
  for await (const batch of statements) {
    for (const statement of [batch].flat()) {
      number++;
      try {
        await execute(statement);
      } catch (error) {
        if (!(error instanceof RejectionError)) throw error;
        const reason = `${error.message} (at ${error.position} of: ${firstLine(statement)})`;
        throw new CodedError(
          'REJECTED',
          `${label}: statement ${number}: ${maskSecrets(reason, findSecrets(statement))}`,
        );
      }
    }
  }
}

const firstLine = (statement: string): string => statement.split('\n', 1)[0] ?? '';
