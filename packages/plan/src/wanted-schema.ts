import { type CompareOptions, type Definition, parseMeaning, spellOutDefaults } from '@sqlpipe/ddl';
import { type Entry, Schema } from '@sqlpipe/schema';

/** The schema that a plan leads to. It parses the definition in each statement once. */
export class WantedSchema extends Schema {
  readonly #defaults: CompareOptions['defaults'];
  readonly #meanings = new Map<Entry, Definition | undefined>();

  constructor(statements: Iterable<string>, defaults: CompareOptions['defaults']) {
    super(statements);
    this.#defaults = defaults;
  }

  /** The definition in a statement; undefined if its syntax is unknown. */
  meaning(entry: Entry | undefined): Definition | undefined {
    if (!entry) return undefined;
    if (this.#meanings.has(entry)) return this.#meanings.get(entry);
    const findTable = (name: string) => this.findObject(name)?.statement;
    const meaning = parseMeaning(entry.statement, { defaults: this.#defaults, findTable });
    this.#meanings.set(entry, meaning);
    return meaning;
  }

  /** The statement that creates an object on B's server. */
  creation({ statement }: Entry): string {
    return this.#defaults ? spellOutDefaults(statement, this.#defaults) : statement;
  }

  /** The definition in the statement of an object. */
  definitionOf(name: string): Definition | undefined {
    return this.meaning(this.findObject(name));
  }
}
