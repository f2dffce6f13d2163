/*! What kinds of statements have in common. */
import { foldCase } from './fold-case.js';
import type { Identity, Kind } from './identify.js';

const OBJECTS: ReadonlySet<Kind> = new Set(['table', 'view', 'matview', 'liveview']);
const PRINCIPALS: ReadonlySet<Kind> = new Set(['user', 'group', 'service-account']);

/** What the schema part of a dump is made of; these share one namespace. */
export const isObject = (kind: Kind): boolean => OBJECTS.has(kind);

/** What grants and owners refer to; these share another. */
export const isPrincipal = (kind: Kind): boolean => PRINCIPALS.has(kind);

/** Whether a statement of this kind is access control. */
export const isAcl = (kind: Kind): boolean => !isObject(kind) && kind !== 'other';

/** Whether a statement of this kind gives somebody a right. */
export const givesRight = (kind: Kind): boolean => isAcl(kind) && !isPrincipal(kind);

/** Whether what is made is known by a name, and not by the whole statement as a grant is. */
export const hasName = ({ kind }: Identity): boolean => isObject(kind) || isPrincipal(kind);

/** What two statements for one name have in common, of those that have a name. */
export const identityKey = ({ kind, name }: Identity): string =>
  `${isObject(kind) ? 'object' : 'principal'} ${foldCase(name)}`;
