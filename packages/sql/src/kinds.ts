import { foldCase } from './name.js';

/** What each kind is, its category in SHOW CREATE DATABASE, its folder. Lists of kinds, and rights in a dump, have this order. */
const KIND_PROPERTIES = {
  table: { group: 'object', category: 'TABLES', folder: 'tables', tableType: 'T' },
  view: { group: 'object', category: 'VIEWS', folder: 'views', tableType: 'V' },
  'materialized view': {
    group: 'object',
    category: 'MATERIALIZED_VIEWS',
    folder: 'materialized_views',
    tableType: 'M',
  },
  'live view': { group: 'object', category: 'LIVE_VIEWS', folder: 'live_views', tableType: 'L' },
  user: { group: 'principal', category: 'USERS', folder: 'users' },
  group: { group: 'principal', category: 'GROUPS', folder: 'groups' },
  'service account': { group: 'principal', category: 'SERVICE_ACCOUNTS', folder: 'service_accounts' },
  membership: { group: 'right', category: 'PERMISSIONS', folder: 'memberships' },
  assumption: { group: 'right', category: 'PERMISSIONS', folder: 'assumptions' },
  grant: { group: 'right', category: 'PERMISSIONS', folder: 'grants' },
  other: { group: undefined, category: undefined, folder: undefined },
} as const;

/** The kind of a statement in a dump; `other` is everything else (ALTER, INSERT, …). */
export type Kind = keyof typeof KIND_PROPERTIES;

type KindOf<Group> = { [Each in Kind]: (typeof KIND_PROPERTIES)[Each]['group'] extends Group ? Each : never }[Kind];

/** The kind of a table or a view. All objects share one namespace. */
export type ObjectKind = KindOf<'object'>;

/** The kind of a user, a group or a service account. All principals share one namespace. */
export type PrincipalKind = KindOf<'principal'>;

/** All kinds, in the order of the table. */
export const KINDS = Object.keys(KIND_PROPERTIES) as readonly Kind[];

/** How the column `table_type` of tables() shows the kind of an object. */
export const tableTypeOf = (kind: ObjectKind): string => KIND_PROPERTIES[kind].tableType;

/** Whether a statement of this kind creates a table or a view. */
export const isObjectKind = (kind: Kind): kind is ObjectKind => KIND_PROPERTIES[kind].group === 'object';

/** The kinds of tables and views, in the order of the table. */
export const OBJECT_KINDS = KINDS.filter(isObjectKind);

/** Whether a statement of this kind creates a view that stores rows. */
export const isStoredViewKind = (kind: Kind): kind is 'materialized view' | 'live view' =>
  kind === 'materialized view' || kind === 'live view';

/** Whether a statement of this kind creates a user, a group or a service account. */
export const isPrincipalKind = (kind: Kind): kind is PrincipalKind => KIND_PROPERTIES[kind].group === 'principal';

/** Whether a statement of this kind gives somebody a right. */
export const isRightKind = (kind: Kind): boolean => KIND_PROPERTIES[kind].group === 'right';

/** Whether a statement of this kind is access control. */
export const isAclKind = (kind: Kind): boolean => isPrincipalKind(kind) || isRightKind(kind);

/** Whether a statement of this kind creates something that has a name of its own; a grant, for example, has none. */
export const isNamedKind = (kind: Kind): boolean => isObjectKind(kind) || isPrincipalKind(kind);

/** The keywords for an object or a principal of a kind: `MATERIALIZED VIEW`; empty for all other kinds. */
export const kindKeywords = (kind: Kind): string => (isNamedKind(kind) ? kind.toUpperCase() : '');

/** The folder for the files of a kind; undefined for `other`. */
export const folderOf = (kind: Kind): string | undefined => KIND_PROPERTIES[kind].folder;

/** The categories in INCLUDE and EXCLUDE of SHOW CREATE DATABASE, with the kinds that each selects. */
export const CATEGORY_KINDS: ReadonlyMap<string, readonly Kind[]> = new Map([
  ...Object.values(KIND_PROPERTIES).flatMap(({ category }) =>
    category ? [[category, KINDS.filter(kind => KIND_PROPERTIES[kind].category === category)] as const] : [],
  ),
  ['SCHEMA', OBJECT_KINDS],
  ['ACL', KINDS.filter(isAclKind)],
  ['ALL', KINDS.filter(kind => kind !== 'other')],
]);

/** Two objects of the same name have the same key. So do two principals of the same name, and two rights of one kind and entity. */
export const namespaceKey = ({ kind, name }: { kind: Kind; name: string }): string =>
  `${isObjectKind(kind) ? 'object' : isPrincipalKind(kind) ? 'principal' : kind} ${foldCase(name)}`;

/** A key that is the same for statements of one kind and name. */
export const kindAndNameKey = ({ kind, name }: { kind: Kind; name: string }): string => `${kind} ${foldCase(name)}`;
