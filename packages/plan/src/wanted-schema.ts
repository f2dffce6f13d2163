import { type CompareOptions, type Definition, spellOutDefaults, tryParseDefinition } from '@sqlpipe/ddl';
import { type Entry, Schema } from '@sqlpipe/schema';

/** The schema that a plan leads to. It parses the definition in each statement once. */
export class WantedSchema extends Schema {
  readonly #defaults: CompareOptions['defaults'];
  readonly definitions = new Map<Entry, Definition | undefined>();

  constructor(statements: Iterable<string>, defaults: CompareOptions['defaults']) {
    super(statements);
    this.#defaults = defaults;
  }

  /** The definition in a statement; undefined if its syntax is unknown. */
  definitionOfEntry(entry: Entry | undefined): Definition | undefined {
    if (!entry) return undefined;
    if (this.definitions.has(entry)) return this.definitions.get(entry);
    const findTable = (name: string) => this.findObject(name)?.statement;
    const definition = tryParseDefinition(entry.statement, { defaults: this.#defaults, findTable });
    this.definitions.set(entry, definition);
    return definition;
  }

  /** The statement that creates an object on B's server. */
  creation({ statement }: Entry): string {
    return this.#defaults ? spellOutDefaults(statement, this.#defaults) : statement;
  }

  definitionOf(name: string): Definition | undefined {
    return this.definitionOfEntry(this.findObject(name));
  }
}
