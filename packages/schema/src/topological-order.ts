/*! The server's order: names by UTF-16 code unit, each object after its dependencies (source: ShowCreateDatabaseRecordCursorFactory). */
import { CodedError } from '@sqlpipe/text';
import TinyQueue from 'tinyqueue';

/**
 * @param needs for each name, the names that the object needs; names that are not keys themselves are ignored
 * @param isTransparent whether the dependents of this object also depend directly on its dependencies, as for views (9.4.4)
 * @returns every key once. The edge that would close a cycle is ignored, as the server does.
 * @throws CodedError if the order would take too long: a cycle has too many views, or long chains of views connect materialized views
 */
export function topologicalOrder(
  needs: ReadonlyMap<string, Iterable<string>>,
  isTransparent: (name: string) => boolean = () => false,
): string[] {
  const names = [...needs.keys()].sort(); // JavaScript orders strings as the server does
  const numbers = new Map(names.map((name, number) => [name, number]));
  const edges = names.map((name, node) =>
    [...(needs.get(name) ?? [])].flatMap(need => numbers.get(need) ?? []).filter(need => need !== node),
  );
  const edgesOf = (node: number) => edges[node] as number[];
  const transparent = names.map(name => isTransparent(name));
  const seen = new Uint8Array(names.length);
  /** For each node, the node whose dependencies contained it last. */
  const foundBy = new Int32Array(names.length).fill(ROOT);
  const hasCycle = !reverseTopologicalSort(Int32Array.from(names.keys()), edgesOf);
  let steps = 0;

  /**
   * With a cycle, the order is by name. Without one, it is the postorder of a depth-first search by name: a transparent node comes directly
   * after those of its dependencies that did not come before. @param node the node whose dependencies are sorted, or ROOT
   */
  const sortForVisit = (node: number, nodes: Int32Array): Int32Array => {
    if (hasCycle) return nodes.sort();
    const isAmongNodes = (need: number) => foundBy[need] === node && !seen[need];
    const order = reverseTopologicalSort(nodes, each => (transparent[each] ? edgesOf(each).filter(isAmongNodes) : []));
    return order?.reverse() ?? nodes.sort();
  };

  /** Marks a node as seen. Returns its unseen dependencies, marked as found by it, and for transparent ones, theirs. */
  const enter = (node: number): Int32Array => {
    seen[node] = 1; // before its dependencies, so that a cycle ends
    // If there is no cycle, `sortForVisit` puts the dependencies of a transparent node before the node.
    if (transparent[node] && !hasCycle) return new Int32Array();
    const found: number[] = [];
    const addNeedsOf = (other: number) => {
      steps += edgesOf(other).length + 1;
      if (steps > MAX_STEPS)
        throw new CodedError(
          'DAMAGED',
          'the objects cannot be put in order: a cycle has too many views, or long chains of views connect materialized views',
        );
      for (const need of edgesOf(other)) {
        if (seen[need] || foundBy[need] === node) continue;
        foundBy[need] = node;
        found.push(need);
      }
    };
    addNeedsOf(node);
    for (const other of found) if (transparent[other]) addNeedsOf(other); // the list grows during the loop
    return sortForVisit(node, Int32Array.from(found));
  };

  const order: string[] = [];
  // The visits that have not ended, on a stack of their own, because chains of views may be deeper than the call stack.
  const path = [{ node: ROOT, needed: sortForVisit(ROOT, Int32Array.from(names.keys())), index: 0 }];
  for (let visit = path.at(-1); visit; visit = path.at(-1)) {
    const next = visit.needed[visit.index++];
    if (next === undefined) {
      path.pop();
      if (visit.node !== ROOT) order.push(names[visit.node] as string);
    } else if (!seen[next]) {
      const needed = enter(next);
      if (visit.node !== ROOT && needed.length * 2 > visit.needed.length - visit.index) {
        // The visit of `next` has these nodes too. Otherwise each visit on a long chain would store the same nodes.
        visit.needed = visit.needed.subarray(visit.index).filter(node => foundBy[node] !== next);
        visit.index = 0;
      }
      path.push({ node: next, needed, index: 0 });
    }
  }
  return order;
}

/** The node of the visit that starts at all objects. Other nodes are numbers from 0 on that sort like names. */
const ROOT = -1;

/**
 * The maximum number of visited nodes and edges: about a second of work. If only views depend on each other, each node is visited once.
 * With a cycle, or below materialized views that need each other, the server's order needs all dependencies of each node. Then twice the
 * objects take four times as long (measured without the limit: 8,000 of both kinds 18 s, 16,000 79 s).
 */
const MAX_STEPS = 10_000_000;

/** Each node comes before its dependencies. Of those that may come next, the greatest comes first. Undefined if there is a cycle. */
function reverseTopologicalSort(nodes: Int32Array, needs: (node: number) => number[]): Int32Array | undefined {
  const dependentCounts = new Map<number, number>();
  for (const node of nodes)
    for (const need of needs(node)) dependentCounts.set(need, (dependentCounts.get(need) ?? 0) + 1);
  const first = [...nodes].filter(node => !dependentCounts.has(node));
  const ready = new TinyQueue(first, (a, b) => b - a);
  const order = new Int32Array(nodes.length);
  let length = 0;
  for (let node = ready.pop(); node !== undefined; node = ready.pop()) {
    order[length++] = node;
    for (const need of needs(node)) {
      const left = (dependentCounts.get(need) as number) - 1;
      dependentCounts.set(need, left);
      if (!left) ready.push(need);
    }
  }
  return length === nodes.length ? order : undefined;
}

/** Names each of which needs the next, and the last the first; undefined if there is none. The same input gives the same cycle. */
export function findCycle(needs: ReadonlyMap<string, Iterable<string>>): string[] | undefined {
  const done = new Set<string>();
  // The current path, with the remaining names to try at each step. Chains of views may be deeper than the call stack.
  const path = new Map<string, Iterator<string>>();
  const names: string[] = [];
  const enter = (name: string) => {
    path.set(name, (needs.get(name) ?? [])[Symbol.iterator]());
    names.push(name);
  };
  for (const start of needs.keys()) {
    if (!done.has(start)) enter(start);
    for (let name = names.at(-1); name !== undefined; name = names.at(-1)) {
      const next = path.get(name)?.next();
      if (!next || next.done) {
        names.pop();
        path.delete(name);
        done.add(name);
      } else if (path.has(next.value)) return names.slice(names.indexOf(next.value));
      else if (!done.has(next.value)) enter(next.value);
    }
  }
  return undefined;
}
