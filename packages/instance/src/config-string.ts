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
 * Reads `schema::key=value;key=value;`. What the keys mean is not looked at.
 * Throws `CONFIG`; values may be secrets, and a ; in one makes a key of its rest, so it names places only.
 */
export function parseConfigString(text: string): ConfigString {
  const start = text.indexOf('::') + 2;
  const values = new Map<string, string>();
  PAIR.lastIndex = start;
  while (PAIR.lastIndex < text.length) {
    const at = PAIR.lastIndex;
    const [, key, value] = PAIR.exec(text) ?? [];
    if (key === undefined || value === undefined)
      throw new InstanceError(
        'CONFIG',
        `the configuration string is not key=value; from character ${at + 1} on; write http::addr=host:9000;`,
      );
    if (values.has(key))
      throw new InstanceError(
        'CONFIG',
        `the configuration string has a duplicate key at character ${at + 1}; remove one, or write a ; inside a value as ;;`,
      );
    values.set(key, value.replaceAll(';;', ';'));
  }
  return { schema: text.slice(0, start - 2), values };
}
