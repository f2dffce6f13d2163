/*!
 * The order in which the service dumps its objects, stated as a law: names ascending by UTF-16 code unit, all kinds
 * together, each object behind what it needs (read in ShowCreateDatabaseRecordCursorFactory, checked on real dumps).
 */

/**
 * The names of a set of objects in dependency order.
 *
 * @param needs for each name the names that object needs; names that are not keys themselves are ignored
 * @param expands whether what this name needs is needed by everything over it too; so it is with views (observed on 9.4.4)
 * @returns every key once. A cycle is no error here: the edge that would close it is ignored, as the service does.
 */
export function topologicalOrder(
  needs: ReadonlyMap<string, Iterable<string>>,
  expands: (name: string) => boolean = () => false,
): string[] {
  const names = [...needs.keys()].sort(); // JavaScript's own order of strings is the service's
  const graph = new Graph(names, needs, expands);
  const order: string[] = [];
  // A stack of its own, as chains of views may be deeper than the call stack.
  const path = [new Visit(-1, [...names.keys()])];
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

/** One object on the way down, with what it needs that was not seen yet. Nodes are numbers that sort as names do. */
class Visit {
  #needed: Int32Array;
  #at = 0;

  constructor(
    readonly node: number,
    needed: number[],
  ) {
    this.#needed = Int32Array.from(needed).sort();
  }

  /** How many are left. */
  get length(): number {
    return this.#needed.length - this.#at;
  }

  /** The next in order. */
  next(): number | undefined {
    return this.#needed[this.#at++];
  }

  /** Leaves some to the visit of another node, or a long chain would keep each node once for every one above it. */
  leave(toOther: (node: number) => boolean): void {
    this.#needed = this.#needed.subarray(this.#at).filter(node => !toOther(node));
    this.#at = 0;
  }
}

class Graph {
  readonly seen: Uint8Array;
  /** The node from which each was found last. */
  readonly foundBy: Int32Array;
  readonly #edges: number[][];
  readonly #expands: boolean[];

  constructor(names: string[], needs: ReadonlyMap<string, Iterable<string>>, expands: (name: string) => boolean) {
    const numbers = new Map(names.map((name, number) => [name, number]));
    this.seen = new Uint8Array(names.length);
    this.foundBy = new Int32Array(names.length).fill(-1);
    this.#edges = names.map(name => [...(needs.get(name) ?? [])].flatMap(need => numbers.get(need) ?? []));
    this.#expands = names.map(expands);
  }

  /** What a node needs: its own needs and, through what expands, theirs. Below what was seen all has been seen. */
  unseenBelow(node: number): number[] {
    const below: number[] = [];
    const addNeedsOf = (other: number) => {
      for (const need of this.#edges[other] as number[]) {
        if (this.seen[need] || this.foundBy[need] === node) continue;
        this.foundBy[need] = node;
        below.push(need);
      }
    };
    addNeedsOf(node);
    for (const other of below) if (this.#expands[other]) addNeedsOf(other); // grows while it is walked
    return below;
  }
}
