/**
 * Finds a cycle: names each of which needs the next one, and the last needs the first. Returns undefined if there is none,
 * and always the same cycle for the same input.
 *
 * @param needs for each name, the names that the object needs; names that are not keys themselves are ignored
 */
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
