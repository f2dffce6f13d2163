/*! Comparison of names. The server stores a name with its case, but ignores case when it compares names. */

/**
 * Returns the form in which names that differ only in case are equal. Each character is folded separately, as the server
 * does (observed on 9.3.4); `toLowerCase` of a whole word would also consider neighbouring characters.
 */
export const foldCase = (name: string): string =>
  /^[\0-\x7f]*$/.test(name) ? name.toLowerCase() : name.replace(/[^]/g, unit => unit.toLowerCase().charAt(0));

/** Whether two names are the same name to the server. A name that is missing is not the same as any. */
export const isSameName = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && foldCase(a) === foldCase(b);
