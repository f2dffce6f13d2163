/*! What a connection uses, value by value, and where each comes from; for people to see. */

/** A value that a connection uses. Never a secret. */
export interface Setting {
  /** As in instances.toml, where it can stand there. */
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

/** The first of these that has a value. */
export function firstGiven<T>(
  ...candidates: readonly (readonly [value: T | undefined, source: string])[]
): Sourced<T> | undefined {
  for (const [value, source] of candidates) if (value !== undefined) return { value, source };
  return undefined;
}

/** A setting of what was found, if anything was. */
export const settingOf = (name: string, found: Sourced<unknown> | undefined): Setting[] =>
  found ? [{ name, value: String(found.value), source: found.source }] : [];
