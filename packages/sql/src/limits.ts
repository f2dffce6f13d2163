/** The maximum length of a record in bytes, with its LF and NUL. It also limits the length of a statement. */
export const MAX_RECORD = 16 * 1024 * 1024;
