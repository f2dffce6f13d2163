import { type CompareOptions, type Definition, parseMeaning } from '@sqlpipe/ddl';
import { Catalog, type Entry } from '../catalog.js';
import type { StateOptions } from './state.js';

/** The schema that a plan leads to, with the definition in each statement. */
export class WantedSchema extends Catalog {
  readonly #options: StateOptions;
  readonly #meanings = new Map<Entry, Definition | undefined>();

  constructor(statements: Iterable<string>, options: StateOptions) {
    super(statements);
    this.#options = options;
  }

  /** The definition in a statement; undefined if its syntax is unknown. */
  meaning(entry: Entry | undefined): Definition | undefined {
    if (!entry) return undefined;
    if (this.#meanings.has(entry)) return this.#meanings.get(entry);
    const findTable = (name: string) => this.findObject(name)?.statement;
    const meaning = parseMeaning(entry.statement, { ...this.#options, findTable } as CompareOptions);
    this.#meanings.set(entry, meaning);
    return meaning;
  }

  /** The definition in the statement of an object. */
  definitionOf(name: string): Definition | undefined {
    return this.meaning(this.findObject(name));
  }
}
