/*! Groups of kinds of statements. */
import { foldCase } from './fold-case.js';
import type { Identity, Kind } from './identify.js';

const OBJECTS: ReadonlySet<Kind> = new Set(['table', 'view', 'materialized view', 'live view']);
const PRINCIPALS: ReadonlySet<Kind> = new Set(['user', 'group', 'service account']);

/** Whether a statement of this kind creates a table or a view. All objects share one namespace. */
export const isObject = (kind: Kind): boolean => OBJECTS.has(kind);

/**
 * Whether a statement of this kind creates a user, a group or a service account. All principals share one namespace.
 */
export const isPrincipal = (kind: Kind): boolean => PRINCIPALS.has(kind);

/** Whether a statement of this kind is access control. */
export const isAcl = (kind: Kind): boolean => !isObject(kind) && kind !== 'other';

/** Whether a statement of this kind gives somebody a right. */
export const givesRight = (kind: Kind): boolean => isAcl(kind) && !isPrincipal(kind);

/** Whether a statement creates something that has a name of its own; a grant, for example, has none. */
export const hasName = ({ kind }: Identity): boolean => isObject(kind) || isPrincipal(kind);

/** A key that two statements share if they create an object or a principal of the same name. */
export const identityKey = ({ kind, name }: Identity): string =>
  `${isObject(kind) ? 'object' : 'principal'} ${foldCase(name)}`;
