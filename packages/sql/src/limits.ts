/** The longest record of a stream in bytes, its LF and NUL included; so the longest statement, too. */
export const MAX_RECORD = 16 * 1024 * 1024;
