/*! Names may be hostile: nodes are identified by numbers, and names are only in labels, escaped for the language. */
import { dumpOrder, type Entry, type Schema } from '@sqlpipe/schema';
import { isObjectKind, type ObjectKind } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';

/** Nodes are numbered in the order of a dump, so that the same schema gives the same graph. */
function buildDiagram(schema: Schema) {
  const nodes = dumpOrder(schema)
    .filter((entry): entry is Entry & { kind: ObjectKind } => isObjectKind(entry.kind))
    .map((entry, i) => ({ id: `n${i + 1}`, entry }));
  const ids = new Map(nodes.map(({ id, entry }) => [entry.name, id]));
  const needs = schema.objectReferences();
  const arrows = nodes.flatMap(({ id, entry }) =>
    (needs.get(entry.name) ?? []).map((name): [from: string, to: string] => [ids.get(name) as string, id]),
  );
  return { nodes, arrows };
}

const DOT_SHAPES: Readonly<Record<ObjectKind, string>> = {
  table: 'cylinder',
  view: 'ellipse',
  'materialized view': 'box3d',
  'live view': 'hexagon',
};

export function formatDot(schema: Schema): string {
  const { nodes, arrows } = buildDiagram(schema);
  // Labels may contain backslash escapes and HTML entities.
  const formatLabel = (name: string) => escapeControls(name).replace(/[\\"]/g, '\\$&').replaceAll('&', '&amp;');
  return joinLines([
    'digraph schema {',
    '  rankdir=LR;',
    ...nodes.map(
      ({ id, entry: { kind, name } }) => `  ${id} [label="${formatLabel(name)}", shape=${DOT_SHAPES[kind]}];`,
    ),
    ...arrows.map(([from, to]) => `  ${from} -> ${to};`),
    '}',
  ]);
}

const MERMAID_SHAPES: Readonly<Record<ObjectKind, [before: string, after: string]>> = {
  table: ['[("', '")]'],
  view: ['("', '")'],
  'materialized view': ['[["', '"]]'],
  'live view': ['{{"', '"}}'],
};

export function formatMermaid(schema: Schema): string {
  const { nodes, arrows } = buildDiagram(schema);
  return joinLines([
    'flowchart LR',
    ...nodes.map(({ id, entry: { kind, name } }) => `  ${id}${MERMAID_SHAPES[kind].join(formatMermaidLabel(name))}`),
    ...arrows.map(([from, to]) => `  ${from} --> ${to}`),
  ]);
}

/** Labels are HTML or Markdown, and Mermaid searches them for words such as `direction LR`: only letters, digits and inner `_` are safe. */
const formatMermaidLabel = (name: string): string =>
  escapeControls(name).replace(
    /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|[^\p{L}\p{N}_]/gu,
    character => `#${character.codePointAt(0)};`,
  );

const joinLines = (lines: string[]): string => lines.map(line => `${line}\n`).join('');
