// Not in validity.ts, whose types come from a library that users of this package do not have.
/** The columns of a view have other types than its query gives: only a new view can have them. */
export const OTHER_TYPES = 'its query gives columns of other types';
