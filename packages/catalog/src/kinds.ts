import type { Kind } from '@sqlpipe/sql';

const OBJECTS: ReadonlySet<Kind> = new Set(['table', 'view', 'matview', 'liveview']);
const PRINCIPALS: ReadonlySet<Kind> = new Set(['user', 'group', 'service-account']);

/** What the schema part of a dump is made of; these share one space of names. */
export const isObject = (kind: Kind): boolean => OBJECTS.has(kind);

/** What grants and owners refer to; these share another. */
export const isPrincipal = (kind: Kind): boolean => PRINCIPALS.has(kind);
