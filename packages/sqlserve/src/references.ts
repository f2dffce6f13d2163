/*! Which tables and views a query names, found in its syntax tree: anywhere a name may stand for a table. */
import type { SelectStatement } from '@questdb/sql-parser';
import type { Catalogue } from './catalogue.js';
import type { Query } from './parser/query.js';
import { Refusal } from './parser/refusal.js';

type TableRef = NonNullable<SelectStatement['from']>[number];

/**
 * The tables and views a query refers to, each once, as they are called in the query.
 * @throws Refusal for the first that does not exist
 */
export function references({ select, at }: Query, catalogue: Catalogue): string[] {
  const found = new Map<string, string>();
  const see = (ref: TableRef, hidden: ReadonlySet<string>): void => {
    if (ref.table.type !== 'qualifiedName') return;
    const name = ref.table.parts
      .filter((part, i, { length }) => length === 1 || i > 0 || part.toLowerCase() !== 'public')
      .join('.');
    if (hidden.has(name.toLowerCase()) || found.has(name.toLowerCase())) return;
    const object = catalogue.find(name);
    if (!object) throw new Refusal(at(ref.table), `table does not exist [table=${name}]`);
    found.set(name.toLowerCase(), object.name);
  };
  visit(select, new Set(), see);
  return [...found.values()];
}

/** Walks a tree, keeping the names that WITH gives to queries: those hide tables. */
function visit(
  node: unknown,
  hidden: ReadonlySet<string>,
  see: (ref: TableRef, hidden: ReadonlySet<string>) => void,
): void {
  if (Array.isArray(node)) {
    for (const element of node) visit(element, hidden, see);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const { type } = node as { type?: string };
  if (type === 'tableRef') see(node as TableRef, hidden);
  if (type !== 'select') {
    visit(Object.values(node), hidden, see);
    return;
  }
  const { with: queries = [], ...rest } = node as SelectStatement;
  let names = hidden;
  for (const { name, query } of queries) {
    visit(query, names, see);
    names = new Set([...names, name.toLowerCase()]);
  }
  visit(Object.values(rest), names, see);
}
