import { locateColumns, parseColumnPropertyName } from '@sqlpipe/ddl';
import { findLocation, type LocatedStatement, type Location } from '@sqlpipe/files';
import { splitRights } from '@sqlpipe/schema';
import { foldCase, identify, isNamedKind, isSameName, type KindAndName, namespaceKey } from '@sqlpipe/sql';

/** Where files create objects and grant rights. If both schemas are files and have an object, its location in A counts. */
export class Locations {
  readonly #statements = new Map<string, LocatedStatement>();

  async *recordLocations(batches: AsyncIterable<LocatedStatement[]>): AsyncGenerator<string[]> {
    for await (const batch of batches) {
      for (const located of batch) {
        const identity = identify(located.statement);
        const rights = () => splitRights(located.statement).map(foldCase);
        for (const key of isNamedKind(identity.kind) ? [namespaceKey(identity)] : rights())
          if (!this.#statements.has(key)) this.#statements.set(key, located);
      }
      yield batch.map(({ statement }) => statement);
    }
  }

  /** Where an object is created, or a right is granted; for the property of a column, the line of the column. */
  find(identity: KindAndName, statement?: string, property = ''): Location | undefined {
    const found = this.#statements.get(isNamedKind(identity.kind) ? namespaceKey(identity) : foldCase(statement ?? ''));
    if (!found) return undefined;
    const { statement: text, ...location } = found;
    const name = parseColumnPropertyName(property)?.column;
    const column = locateColumns(text).columns.find(each => isSameName(each.name, name));
    return findLocation(text, location, column?.start);
  }
}
