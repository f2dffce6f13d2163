/*!
 * The order in which the service dumps its objects, stated as a rule: names ascending by UTF-16 code unit, all kinds
 * together, each object after what it depends on (read in ShowCreateDatabaseRecordCursorFactory, checked on real
 * dumps).
 */

import { LimitError } from '@sqlpipe/ddl';

/**
 * The names of a set of objects in dependency order.
 *
 * @param needs for each name the names that object needs; names that are not keys themselves are ignored
 * @param expands whether everything above this name also depends on what the name depends on; so it is with views
 * (observed on 9.4.4)
 * @returns every key once. A cycle is no error here: the edge that would close it is ignored, as the service does.
 * @throws LimitError if the dependencies of the names that do not expand are too many to sort in reasonable time
 */
export function topologicalOrder(
  needs: ReadonlyMap<string, Iterable<string>>,
  expands: (name: string) => boolean = () => false,
): string[] {
  const names = [...needs.keys()].sort(); // JavaScript's own order of strings is the service's
  const graph = new Graph(names, needs, expands);
  const order: string[] = [];
  // An explicit stack, as chains of views may be deeper than the call stack.
  const path = [new Visit(-1, graph.inOrder(-1, Int32Array.from(names.keys())))];
  for (let visit = path.at(-1); visit; visit = path.at(-1)) {
    const next = visit.next();
    if (next === undefined) {
      path.pop();
      if (visit.node >= 0) order.push(names[visit.node] as string);
    } else if (!graph.seen[next]) {
      graph.seen[next] = 1; // before its dependencies, which is what ends a cycle
      const below = graph.unseenBelow(next);
      if (visit.node >= 0 && below.length * 2 > visit.length) visit.leave(node => graph.foundBy[node] === next);
      path.push(new Visit(next, below));
    }
  }
  return order;
}

/** An object being visited, with its dependencies that were not seen yet. Nodes are numbers that sort like names. */
class Visit {
  #needed: Int32Array;
  #at = 0;

  constructor(
    readonly node: number,
    needed: Int32Array,
  ) {
    this.#needed = needed;
  }

  /** How many are left. */
  get length(): number {
    return this.#needed.length - this.#at;
  }

  /** The next in order. */
  next(): number | undefined {
    return this.#needed[this.#at++];
  }

  /** Gives some nodes to the visit of another node. Otherwise a long chain would store each node once per node above it. */
  leave(toOther: (node: number) => boolean): void {
    this.#needed = this.#needed.subarray(this.#at).filter(node => !toOther(node));
    this.#at = 0;
  }
}

/**
 * Maximum number of visited nodes and edges: about a second of work. If only views depend on each other, each is visited
 * once.
 */
const MOST_STEPS = 10_000_000;

const NONE = new Int32Array();

class Graph {
  readonly seen: Uint8Array;
  /** The node from which each was found last. */
  readonly foundBy: Int32Array;
  readonly #edges: number[][];
  readonly #expands: boolean[];
  readonly #hasCycle: boolean;
  #steps = 0;

  constructor(names: string[], needs: ReadonlyMap<string, Iterable<string>>, expands: (name: string) => boolean) {
    const numbers = new Map(names.map((name, number) => [name, number]));
    this.seen = new Uint8Array(names.length);
    this.foundBy = new Int32Array(names.length).fill(-1);
    this.#edges = names.map((name, node) =>
      [...(needs.get(name) ?? [])].flatMap(need => numbers.get(need) ?? []).filter(need => need !== node),
    );
    this.#expands = names.map(expands);
    const all = Int32Array.from(names.keys());
    this.#hasCycle = !backwards(all, node => this.#edges[node] as number[]);
  }

  /**
   * The nodes to visit for a node, in order: its dependencies and, for those that expand, their dependencies. Nodes that
   * were seen are omitted, because everything below them was seen too.
   */
  unseenBelow(node: number): Int32Array {
    // The dependencies of a node come before it in the visiting order.
    if (this.#expands[node] && !this.#hasCycle) return NONE;
    const below: number[] = [];
    const addNeedsOf = (other: number) => {
      const needs = this.#edges[other] as number[];
      this.#count(needs.length + 1);
      for (const need of needs) {
        if (this.seen[need] || this.foundBy[need] === node) continue;
        this.foundBy[need] = node;
        below.push(need);
      }
    };
    addNeedsOf(node);
    for (const other of below) if (this.#expands[other]) addNeedsOf(other); // grows while it is walked
    return this.inOrder(node, Int32Array.from(below));
  }

  /**
   * Sorts nodes in visiting order, which is by name. If there is no cycle, a node that expands comes after all its
   * dependencies: the smallest name comes as early as possible, directly after its own dependencies, then the next name,
   * and so on. It is the order in which depth-first visits would end.
   *
   * @param foundBy the node from which they have just been found
   */
  inOrder(foundBy: number, nodes: Int32Array): Int32Array {
    const among = (need: number) => this.foundBy[need] === foundBy && !this.seen[need];
    const order = this.#hasCycle
      ? undefined
      : backwards(nodes, node => (this.#expands[node] ? (this.#edges[node] as number[]).filter(among) : []));
    return order?.reverse() ?? nodes.sort();
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS)
      throw new LimitError(
        'the objects cannot be put in order: too many views in a cycle, or materialized views that depend on each other through long chains of views',
      );
  }
}

/**
 * Sorts nodes in reverse: each before its dependencies, and the greatest name first among those that may come next.
 * Returns undefined if there is a cycle.
 */
function backwards(nodes: Int32Array, needs: (node: number) => number[]): Int32Array | undefined {
  const above = new Map<number, number>();
  for (const node of nodes) for (const need of needs(node)) above.set(need, (above.get(need) ?? 0) + 1);
  const free = new Greatest(nodes.filter(node => !above.has(node)));
  const order = new Int32Array(nodes.length);
  let length = 0;
  for (let node = free.take(); node !== undefined; node = free.take()) {
    order[length++] = node;
    for (const need of needs(node)) {
      const left = (above.get(need) as number) - 1;
      above.set(need, left);
      if (!left) free.add(need);
    }
  }
  return length === nodes.length ? order : undefined;
}

/** A binary heap that returns the greatest number first. */
class Greatest {
  readonly #heap: number[] = [];

  constructor(numbers: Iterable<number>) {
    for (const number of numbers) this.add(number);
  }

  add(number: number): void {
    const heap = this.#heap;
    let at = heap.push(number) - 1;
    for (let over = (at - 1) >> 1; at > 0 && (heap[over] as number) < number; over = (at - 1) >> 1) {
      heap[at] = heap[over] as number;
      at = over;
    }
    heap[at] = number;
  }

  take(): number | undefined {
    const heap = this.#heap;
    const [greatest] = heap;
    const last = heap.pop();
    if (!heap.length || last === undefined) return greatest;
    let at = 0;
    for (let under = 1; under < heap.length; under = 2 * at + 1) {
      if ((heap[under + 1] ?? -1) > (heap[under] as number)) under++;
      if ((heap[under] as number) <= last) break;
      heap[at] = heap[under] as number;
      at = under;
    }
    heap[at] = last;
    return greatest;
  }
}
