/*! For both ways to dump: which objects a dump should contain, and how the objects that it lacks are reported. */
import { isSystemTable } from '@sqlpipe/ddl';
import type { NameSelection } from '@sqlpipe/schema';
import { displayName, isObjectKind, KINDS, type Kind, type KindAndName } from '@sqlpipe/sql';
import { escapeControls, formatFirst } from '@sqlpipe/text';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { InstanceError } from '../instance-error.js';
import type { ListedObject } from './fetch-objects.js';

/** Whether a dump should contain an object. An object of an unknown kind is wanted if all kinds of tables and views are selected. */
export function isWanted({ kind, name }: ListedObject, selects: (kind: Kind) => boolean): boolean {
  const isSelected = kind === 'other' ? KINDS.filter(isObjectKind).every(selects) : selects(kind);
  return isSelected && !isSystemTable(name);
}

export const titleOf = (object: KindAndName): string =>
  escapeControls(object.kind === 'other' ? `'${object.name}'` : displayName(object));

export const formatTitles = (titles: readonly string[]): string => formatFirst(titles, 20);

/** Objects that a dump lacks, because the account may not read their definitions, or because their kind is unknown. */
export class UnreadableObjects {
  readonly #absences: { object: ListedObject; reason: string; denial?: string }[] = [];

  addDenied(object: KindAndName, denial: string): void {
    this.#absences.push({ object, reason: 'permission denied', denial });
  }

  addUnknown(object: ListedObject): void {
    this.#absences.push({ object, reason: `of an unknown kind, ${object.unknownKind}` });
  }

  /** Warns of each unreadable object that the selected names need, if a partial dump is accepted. @throws InstanceError otherwise */
  report(
    { label }: ConnectionConfig,
    names: NameSelection,
    { partial, warn }: { partial?: boolean; warn(message: string): void },
  ): void {
    const absences = names.selectAbsent(this.#absences);
    const titles = absences.map(({ object, reason }) => `${titleOf(object)} (${reason})`);
    if (partial) for (const title of titles) warn(`the dump lacks ${title}`);
    if (partial || !titles.length) return;
    const denials = absences.flatMap(({ denial }) => denial ?? []);
    throw new InstanceError(
      denials.length ? 'DENIED' : 'PROTOCOL',
      `${label}: the dump lacks ${formatTitles(titles)}; ${denials.length ? 'grant SELECT on each to this account' : 'use a newer sqlpipe'}, or accept a partial dump with --partial`,
      { serverMessage: denials[0] },
    );
  }
}

export interface ObjectReadOptions {
  readonly selects: (kind: Kind) => boolean;
  readonly names: NameSelection;
  readonly unreadable: UnreadableObjects;
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
}

export const changingSchemaError = ({ label }: { readonly label: string }): InstanceError =>
  new InstanceError(
    'UNREACHABLE',
    `${label}: the schema keeps changing while it is read; try again when nothing changes it`,
  );
