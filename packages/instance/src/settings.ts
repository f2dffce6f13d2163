/*! The values that a connection uses, and where each comes from, for people to read. */

/** A value that a connection uses. Never a secret. */
export interface Setting {
  /** The key in instances.toml, if there is one for the value. */
  readonly name: string;
  readonly value: string;
  /** An option, a variable, a file with its entry, `default`. */
  readonly source: string;
}

/** A value and where it comes from. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
}

/** The first candidate that has a value. */
export function firstGiven<T>(
  ...candidates: readonly (readonly [value: T | undefined, source: string])[]
): Sourced<T> | undefined {
  for (const [value, source] of candidates) if (value !== undefined) return { value, source };
  return undefined;
}

/** The setting for a value; none if there is no value. */
export const settingOf = (name: string, found: Sourced<unknown> | undefined): Setting[] =>
  found ? [{ name, value: String(found.value), source: found.source }] : [];
