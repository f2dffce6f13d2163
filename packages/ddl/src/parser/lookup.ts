import { OBJECT_KINDS, type ObjectKind } from '@sqlpipe/sql';
import type { Column, Defaults, PartitionUnit, TableDefinition } from '../definition.js';
import { createFeatureCheck, type HasFeature } from '../features.js';
import type { CheckQuery } from './body.js';
import { type Cursor, isWord, missingError, RejectionError } from './cursor.js';
import { stripPublic } from './names.js';

/** An object as far as it is known, see `hasKnownDefinition`. What is not known is not checked. */
export interface KnownObject extends Pick<Partial<TableDefinition>, 'timestamp' | 'wal' | 'policy'> {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly columns?: readonly Column[];
  readonly partitionBy?: PartitionUnit | undefined;
  readonly isSuspended?: boolean;
  readonly structureVersion?: number;
}

/** Whether the definition of an object is known. If a statement is only parsed, or the object is opaque, only kind and name are. */
export const hasKnownDefinition = ({ columns }: KnownObject): boolean => columns !== undefined;

export interface ServerTraits {
  readonly hasFeature: HasFeature;
  readonly defaults: Defaults;
  readonly checkQuery: CheckQuery;
}

/** The traits with which a statement is only parsed: it may have the features of any edition and version. */
export const createPermissiveTraits = (defaults: Defaults): ServerTraits => ({
  hasFeature: createFeatureCheck({ isEnterprise: true }),
  defaults,
  checkQuery() {},
});

/** The server's catalogue, because QuestDB looks up names while it parses a statement. */
export interface NameLookup extends ServerTraits {
  /** @param kind the kind that the statement requires, if it requires one; the found object may have another */
  find(name: string, kind?: ObjectKind): KnownObject | undefined;
  /** Whether the schema `public` may precede a name outside of CREATE and RENAME. 9.3.4 does not accept it there. */
  readonly acceptsPublic?: boolean;
}

/** Finds the kind of object whose keywords start with a word; undefined if the server has none. */
export const findKind = (word: string | undefined, { hasFeature }: ServerTraits): ObjectKind | undefined =>
  OBJECT_KINDS.find(
    kind => isWord(word, kind.split(' ')[0] as string) && (kind !== 'live view' || hasFeature('live views')),
  );

export interface FoundObject {
  readonly object: KnownObject;
  readonly name: string;
  /** Where the name is rejected: `reach` before it. */
  readonly position: number;
}

/** Skips the schema `public.` before a name, if the lookup accepts it. @returns the token of the name */
export const stripPublicIfAccepted = (cursor: Cursor, { acceptsPublic }: NameLookup, token: string): string =>
  acceptsPublic ? stripPublic(cursor, token) : token;

/** Finds an object of a kind. @throws RejectionError, which may have another position for an object of another kind */
export function requireObject(
  lookup: NameLookup,
  kind: ObjectKind,
  name: string,
  position: number,
  positionOfOtherKind = position,
): KnownObject {
  const object = lookup.find(name, kind);
  if (!object) throw missingError(position, name, kind);
  if (object.kind === kind) return object;
  throw new RejectionError(
    positionOfOtherKind,
    kind === 'table' ? `cannot modify ${object.kind} [view=${object.name}]` : `${kind} name expected`,
  );
}
