/*!
 * The configuration string of QuestDB's clients, so that one in use elsewhere works here too.
 * Source: the clients' documentation, and the grammar of the Rust crate questdb-confstr.
 */
import { InstanceError } from './instance-error.js';

export interface ConfigString {
  /** The text before `::`. */
  schema: string;
  values: Map<string, string>;
}

/** A key, `=`, and a value up to a single `;` (two of them stand for one). The last `;` may be missing. */
const PAIR = /(\w+)=((?:[^;]|;;)*)(?:;|$)/y;

/**
 * Parses `schema::key=value;key=value;`, with any keys. Throws `CONFIG`. The message contains positions only: values
 * may be secrets, and so may keys, because a `;` in a value makes a key of the value's rest.
 */
export function parseConfigString(text: string): ConfigString {
  const schemaEnd = text.indexOf('::');
  const values = new Map<string, string>();
  PAIR.lastIndex = schemaEnd + 2;
  while (PAIR.lastIndex < text.length) {
    const start = PAIR.lastIndex;
    const [, key, value] = PAIR.exec(text) ?? [];
    if (key === undefined || value === undefined)
      throw new InstanceError(
        'CONFIG',
        `the configuration string is not key=value; from character ${start + 1} on; write http::addr=host:9000;`,
      );
    if (values.has(key))
      throw new InstanceError(
        'CONFIG',
        `the configuration string has a duplicate key at character ${start + 1}; remove one, or write a ; inside a value as ;;`,
      );
    values.set(key, value.replaceAll(';;', ';'));
  }
  return { schema: text.slice(0, schemaEnd), values };
}
