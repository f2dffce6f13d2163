/*! Which names are one: the service's names keep the case they were made with, and are unique without it. */

/**
 * The form in which names that differ only in case are equal. Characters are looked at one by one, as the service does
 * (observed on 9.3.4), where `toLowerCase` of a whole word would look at its neighbours too.
 */
export const foldCase = (name: string): string =>
  /^[\0-\x7f]*$/.test(name) ? name.toLowerCase() : name.replace(/[^]/g, unit => unit.toLowerCase().charAt(0));

/** Whether two names are one to the service. */
export const isSameName = (a: string, b: string): boolean => foldCase(a) === foldCase(b);
