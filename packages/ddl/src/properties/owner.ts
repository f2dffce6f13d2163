import { foldCase } from '@sqlpipe/sql';
import { parseEntityName } from '../parser/names.js';
import { defineProperty } from '../property.js';

/** The place of OWNED BY is documented for tables only: on a line of its own, at the very end. Views follow the same rule here. */
export const OWNER = defineProperty<{ readonly owner?: string | undefined }>()({
  name: 'owner',
  value: ({ owner }) => owner && foldCase(owner),
  isOptional: true,
  words: ['owned'],
  feature: 'owners',
  parse({ cursor }) {
    cursor.expect('by');
    return { owner: parseEntityName(cursor, 'owner name').name };
  },
  print: ({ owner }) => printOwner(owner),
  unalterable: { reason: 'no statement changes an owner' },
});

export const printOwner = (owner: string | undefined): string => (owner === undefined ? '' : `\nOWNED BY '${owner}'`);
