/*! The properties of each kind, in the order in which servers print their clauses and differences are reported. */
import { isObject, type Kind, type ObjectKind } from '@sqlpipe/sql';
import type { Definition } from '../definition.js';
import type { Property } from '../property.js';
import { DEDUP_KEYS } from './dedup-keys.js';
import { BASE, REFRESH, REFRESH_DETAILS } from './refresh.js';
import { EXPIRY, RETENTION, TTL } from './retention.js';
import {
  FORMAT,
  MAX_UNCOMMITTED_ROWS,
  O3_MAX_LAG,
  OWNER,
  PARTITIONING,
  TIMESTAMP,
  VIEW_TIMESTAMP,
  VOLUME,
  WAL,
} from './storage.js';
import { FLUSH, IN_MEMORY, START, VIEW_INDEXES } from './views.js';

const TABLE = [
  ...[TIMESTAMP, PARTITIONING, ...RETENTION, FORMAT, WAL, MAX_UNCOMMITTED_ROWS, O3_MAX_LAG, VOLUME, DEDUP_KEYS],
  OWNER,
] as const;
const AFTER_QUERY = [VIEW_INDEXES, VIEW_TIMESTAMP, PARTITIONING, TTL, EXPIRY, VOLUME, OWNER] as const;
const MATERIALIZED_VIEW = [BASE, REFRESH, ...REFRESH_DETAILS, ...AFTER_QUERY] as const;
const LIVE_VIEW = [FLUSH, IN_MEMORY, PARTITIONING, TTL, START, OWNER] as const;

type AlterationOf<P> = P extends Property<infer _, infer A> ? A : never;

export type PropertyAlteration = AlterationOf<
  (typeof TABLE)[number] | (typeof MATERIALIZED_VIEW)[number] | (typeof LIVE_VIEW)[number]
>;

export type AnyProperty = Property<Definition, PropertyAlteration>;

const PROPERTIES = {
  table: TABLE,
  view: [OWNER],
  'materialized view': MATERIALIZED_VIEW,
  'live view': LIVE_VIEW,
} as unknown as Readonly<Record<ObjectKind, readonly AnyProperty[]>>;

/** The properties of a kind besides its query and its columns. */
export const propertiesOf = (kind: ObjectKind): readonly AnyProperty[] => PROPERTIES[kind];

export const propertiesAfterQuery = (kind: ObjectKind): readonly AnyProperty[] =>
  kind === 'materialized view' ? PROPERTIES[kind].slice(-AFTER_QUERY.length) : PROPERTIES.view;

export const ALL_PROPERTIES = [...new Set(Object.values(PROPERTIES).flat())];

/** Finds a property of a kind by its name; for a kind that is not an object, a property of any object. */
export const findProperty = (name: string, kind: Kind): AnyProperty | undefined =>
  (isObject(kind) ? PROPERTIES[kind] : ALL_PROPERTIES).find(property => property.name === name);

export const PROPERTY_FEATURES = ALL_PROPERTIES.flatMap(({ feature }) => feature ?? []);
