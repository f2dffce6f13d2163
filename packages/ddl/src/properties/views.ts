/*! The properties of views that only they have: the query, the indexes of a materialized view, what a live view keeps in memory. */
import type { LiveViewDefinition, MaterializedViewDefinition } from '../definition.js';
import { unquote } from '../grammar/names.js';
import { parseTimestamp } from '../grammar/timestamp.js';
import { property } from './property.js';

/** INDEX of columns, which no server prints. */
export const VIEW_INDEXES = property<Pick<MaterializedViewDefinition, 'indexes'>>({
  name: 'indexes',
  value({ indexes = new Map() }) {
    const texts = Array.from(indexes, ([column, capacity]) => `${column} CAPACITY ${capacity}`);
    return texts.sort().join(', ') || undefined;
  },
  isHidden: true,
});

export const FLUSH = property<Pick<LiveViewDefinition, 'flush'>>({
  name: 'flush interval',
  value: ({ flush }) => flush,
  print: ({ flush }) => ` FLUSH EVERY ${flush}`,
});

export const IN_MEMORY = property<Pick<LiveViewDefinition, 'inMemory'>>({
  name: 'time in memory',
  value: ({ inMemory }) => inMemory,
  print: ({ inMemory }) => ` IN MEMORY ${inMemory}`,
});

export const START = property<Pick<LiveViewDefinition, 'start'>>({
  name: 'start',
  value: ({ start }) => parseTimestamp(unquote(start), 9) ?? start,
  print: ({ start }) => ` START FROM ${start}`,
});
