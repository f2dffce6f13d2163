/** A name without quotes and without the schema `public`, and where it starts in the text, with quotes. */
export interface LocatedName {
  readonly name: string;
  readonly start: number;
}

/** A name whose text is `[start, end)`. */
export interface NameSpan extends LocatedName {
  readonly end: number;
}

/** A name as a string literal of SQL: in single quotes, with single quotes inside doubled. */
export const quoteLiteral = (name: string): string => `'${name.replaceAll("'", "''")}'`;

/** The form in which names that differ only in case are equal. Each character is folded by itself, as by the server (observed on 9.3.4). */
export const foldCase = (name: string): string =>
  /^[\0-\x7f]*$/.test(name) ? name.toLowerCase() : name.replace(/[^]/g, unit => unit.toLowerCase().charAt(0));

/** Whether two names are the same name to the server. A name that is missing is not the same as any. */
export const isSameName = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && foldCase(a) === foldCase(b);

/** The names in a map or a set that are not folded, by their folded form. */
type UnfoldedNames = Map<string, string>;

function findStoredName(unfolded: UnfoldedNames | undefined, name: string): string {
  const folded = foldCase(name);
  return unfolded?.get(folded) ?? folded;
}

function addUnfolded(unfolded: UnfoldedNames | undefined, name: string): UnfoldedNames | undefined {
  const folded = foldCase(name);
  if (folded !== name) return (unfolded ?? new Map()).set(folded, name);
  unfolded?.delete(folded); // `delete` or `clear` may have left it
  return unfolded;
}

/** A map by name, in any case. Each key stays as it was first given. */
export class NameMap<Value> extends Map<string, Value> {
  #unfolded: UnfoldedNames | undefined;

  constructor(entries: Iterable<readonly [string, Value]> = []) {
    super();
    for (const [name, value] of entries) this.set(name, value);
  }

  override get(name: string): Value | undefined {
    return super.get(findStoredName(this.#unfolded, name));
  }

  override has(name: string): boolean {
    return super.has(findStoredName(this.#unfolded, name));
  }

  override set(name: string, value: Value): this {
    const stored = findStoredName(this.#unfolded, name);
    if (super.has(stored)) return super.set(stored, value);
    this.#unfolded = addUnfolded(this.#unfolded, name);
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    return super.delete(findStoredName(this.#unfolded, name));
  }
}

/** A set of names, in any case. Each name stays as it was first added. */
export class NameSet extends Set<string> {
  #unfolded: UnfoldedNames | undefined;

  constructor(names: Iterable<string> = []) {
    super();
    for (const name of names) this.add(name);
  }

  override has(name: string): boolean {
    return super.has(findStoredName(this.#unfolded, name));
  }

  override add(name: string): this {
    if (this.has(name)) return this;
    this.#unfolded = addUnfolded(this.#unfolded, name);
    return super.add(name);
  }

  override delete(name: string): boolean {
    return super.delete(findStoredName(this.#unfolded, name));
  }
}

/** Adds a value to the list that a map has for a key. */
export function addToList<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
