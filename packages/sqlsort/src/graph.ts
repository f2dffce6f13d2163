/*!
 * A schema as a picture: its objects as nodes, with an arrow from each to those that read from it. Names are hostile, so
 * nodes are called by numbers, and names stand in labels only, escaped for the language.
 */
import { type Catalog, dumpOrder, type Entry } from '@sqlpipe/schema';
import { escapeControls, isObject, type Kind } from '@sqlpipe/sql';

interface Graph {
  nodes: { id: string; entry: Entry }[];
  /** By the nodes' ids. */
  arrows: [from: string, to: string][];
}

/** The same schema gives the same graph: nodes are numbered in the order of a dump. */
function buildGraph(catalog: Catalog): Graph {
  const nodes = dumpOrder(catalog)
    .filter(({ kind }) => isObject(kind))
    .map((entry, i) => ({ id: `n${i + 1}`, entry }));
  const ids = new Map(nodes.map(({ id, entry }) => [entry.name, id]));
  const needs = catalog.dependencies();
  const arrows = nodes.flatMap(({ id, entry }) =>
    (needs.get(entry.name) ?? []).map((name): [string, string] => [ids.get(name) as string, id]),
  );
  return { nodes, arrows };
}

const DOT_SHAPES: Partial<Record<Kind, string>> = {
  table: 'cylinder',
  view: 'ellipse',
  matview: 'box3d',
  liveview: 'hexagon',
};

/** The graph in the language of Graphviz. */
export function toDot(catalog: Catalog): string {
  const { nodes, arrows } = buildGraph(catalog);
  return joinLines([
    'digraph schema {',
    '  rankdir=LR;',
    ...nodes.map(
      ({ id, entry: { kind, name } }) => `  ${id} [label="${formatDotLabel(name)}", shape=${DOT_SHAPES[kind]}];`,
    ),
    ...arrows.map(([from, to]) => `  ${from} -> ${to};`),
    '}',
  ]);
}

/** Labels know backslash escapes and HTML's entities. */
const formatDotLabel = (name: string): string =>
  escapeControls(name).replace(/[\\"]/g, '\\$&').replaceAll('&', '&amp;');

const MERMAID_SHAPES: Partial<Record<Kind, [before: string, after: string]>> = {
  table: ['[("', '")]'],
  view: ['("', '")'],
  matview: ['[["', '"]]'],
  liveview: ['{{"', '"}}'],
};

/** The graph as a flowchart of Mermaid. */
export function toMermaid(catalog: Catalog): string {
  const { nodes, arrows } = buildGraph(catalog);
  return joinLines([
    'flowchart LR',
    ...nodes.map(({ id, entry: { kind, name } }) => `  ${id}${MERMAID_SHAPES[kind]?.join(formatMermaidLabel(name))}`),
    ...arrows.map(([from, to]) => `  ${from} --> ${to}`),
  ]);
}

/**
 * Labels are HTML, Markdown in some versions, and looked through for words such as `direction LR`. So what is no letter or
 * digit, nor a `_` between such, goes by its number.
 */
const formatMermaidLabel = (name: string): string =>
  escapeControls(name).replace(
    /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|[^\p{L}\p{N}_]/gu,
    character => `#${character.codePointAt(0)};`,
  );

const joinLines = (all: string[]): string => all.map(line => `${line}\n`).join('');
