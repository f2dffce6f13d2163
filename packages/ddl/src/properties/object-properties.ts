/*! The properties of each kind, in the order in which servers print their clauses and differences are reported. */
import { isObjectKind, type Kind, OBJECT_KINDS, type ObjectKind } from '@sqlpipe/sql';
import type { Definition } from '../definition.js';
import type { columnPropertyName, Property } from '../property.js';
import { DEDUP_KEYS } from './dedup-keys.js';
import { EXPIRE_ROWS } from './expire-rows.js';
import { OWNER } from './owner.js';
import { MAX_UNCOMMITTED_ROWS, O3_MAX_LAG } from './parameters.js';
import { BASE, REFRESH, REFRESH_DETAILS } from './refresh.js';
import { RETENTION, TTL } from './retention.js';
import { FORMAT, PARTITIONING, TIMESTAMP, VIEW_TIMESTAMP, VOLUME, WAL } from './storage.js';
import { FLUSH, IN_MEMORY, START_FROM, VIEW_INDEXES } from './views.js';

/** The clauses before and after the query of a view. For a table: the clauses after its columns. */
const CLAUSES_BY_KIND = {
  table: {
    before: [],
    after: [
      ...[TIMESTAMP, PARTITIONING, ...RETENTION, FORMAT, WAL, MAX_UNCOMMITTED_ROWS, O3_MAX_LAG, VOLUME, DEDUP_KEYS],
      OWNER,
    ],
  },
  view: { before: [], after: [OWNER] },
  'materialized view': {
    before: [BASE, REFRESH, ...REFRESH_DETAILS],
    after: [VIEW_INDEXES, VIEW_TIMESTAMP, PARTITIONING, TTL, EXPIRE_ROWS, VOLUME, OWNER],
  },
  'live view': { before: [FLUSH, IN_MEMORY, PARTITIONING, TTL, START_FROM], after: [OWNER] },
} as const;

type ListedProperty = (typeof CLAUSES_BY_KIND)[ObjectKind]['before' | 'after'][number];

type AlterationOf<P> = P extends Property<infer _, infer A, string> ? A : never;

export type PropertyAlteration = AlterationOf<ListedProperty>;

/** Any property in which statements or objects can differ. */
export type PropertyName =
  | ListedProperty['name']
  | ReturnType<typeof columnPropertyName>
  | ('name' | 'kind' | 'query' | 'column order' | 'statement')
  | ('external alias' | 'credentials' | 'invalid' | 'suspended')
  | `GRANT ${string}`; // a grant whose option would be lost

export type AnyProperty = Property<Definition, PropertyAlteration, PropertyName>;

export const clausesOf = (kind: ObjectKind) =>
  CLAUSES_BY_KIND[kind] as Readonly<Record<'before' | 'after', readonly AnyProperty[]>>;

/** The properties of a kind besides its query and its columns. */
export const propertiesOf = (kind: ObjectKind): readonly AnyProperty[] => Object.values(clausesOf(kind)).flat();

/**
 * Gives a wanted definition the former value of each property that is to be kept, such as its query. Several properties can share a
 * field, as those of REFRESH do. Then the first one that differs decides for the field.
 */
export function keepProperties<D extends Definition>(wanted: D, former: D, isKept: (name: PropertyName) => boolean): D {
  let kept = wanted;
  for (const field of Object.keys({ ...wanted, ...former }) as (keyof D)[]) {
    const changed = { ...kept, [field]: former[field] };
    const differing = propertiesOf(wanted.kind).find(({ value }) => value(changed) !== value(kept));
    const name = field === 'body' && changed[field] !== kept[field] ? 'query' : differing?.name;
    if (name !== undefined && isKept(name)) kept = changed;
  }
  return kept;
}

export const ALL_PROPERTIES = [...new Set(OBJECT_KINDS.flatMap(propertiesOf))];

/** Finds a property by its name. If the kind is not that of a table or a view, all properties are searched. */
export const findProperty = (name: string, kind: Kind): AnyProperty | undefined =>
  (isObjectKind(kind) ? propertiesOf(kind) : ALL_PROPERTIES).find(property => property.name === name);
