import { withDepths } from '@sqlpipe/ddl';
import type { LocatedStatement } from '@sqlpipe/files';
import { type Location, locate } from '@sqlpipe/replay';
import { splitRights } from '@sqlpipe/schema';
import {
  foldCase,
  hasName,
  identify,
  identityKey,
  isSameName,
  keywordOf,
  type NamedObject,
  significantTokens,
  unquote,
} from '@sqlpipe/sql';

/** By what the statements create. If both schemas are files and have an object, its location in A counts. */
export class Locations {
  readonly #byKey = new Map<string, LocatedStatement>();

  async *record(batches: AsyncIterable<LocatedStatement[]>): AsyncGenerator<string[]> {
    for await (const batch of batches) {
      for (const located of batch) {
        const identity = identify(located.statement);
        const rights = () => splitRights(located.statement).map(foldCase);
        for (const key of hasName(identity) ? [identityKey(identity)] : rights())
          if (!this.#byKey.has(key)) this.#byKey.set(key, located);
      }
      yield batch.map(({ statement }) => statement);
    }
  }

  /** Where an object is created, or a right is granted; for the property of a column, the line of the column. */
  find(identity: NamedObject, statement?: string, property = ''): Location | undefined {
    const found = this.#byKey.get(hasName(identity) ? identityKey(identity) : foldCase(statement ?? ''));
    if (!found) return undefined;
    const { statement: text, ...location } = found;
    return locate({ statement: text, location, position: findColumnOffset(text, property) });
  }
}

/** Finds the column in the list of a CREATE TABLE, where a type may have the same name, or the first mention of it in a query. */
function findColumnOffset(statement: string, property: string): number | undefined {
  const [, name] = /^column '(.*)'/s.exec(property) ?? [];
  if (name === undefined) return undefined;
  const tokens = withDepths([...significantTokens(statement)]);
  const open = tokens.findIndex(({ text }) => text === '(');
  const isQuery = keywordOf(tokens[open - 1]) === 'AS';
  const isColumn = (index: number) => tokens[index]?.depth === 1 && /^[(,]$/.test(tokens[index - 1]?.text ?? '');
  return tokens.find(
    ({ text }, index) => index > open && isSameName(unquote(text), name) && (isQuery || isColumn(index)),
  )?.start;
}
