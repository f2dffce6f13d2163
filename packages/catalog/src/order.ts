/*!
 * The order in which the service dumps its objects, stated as a law: names ascending by UTF-16 code unit, all kinds
 * together, each object behind what it needs (read in ShowCreateDatabaseRecordCursorFactory, checked on real dumps).
 */

/**
 * The names of a set of objects in dependency order.
 *
 * @param needs for each name the names that object needs; names that are not keys themselves are ignored
 * @returns every key once. A cycle is no error here: the edge that would close it is ignored, as the service does.
 */
export function dependencyOrder(needs: ReadonlyMap<string, Iterable<string>>): string[] {
  const order: string[] = [];
  const seen = new Set<string>();
  // A stack of its own, as chains of views may be deeper than the call stack.
  const path: { name: string; next: Iterator<string> }[] = [];

  const enter = (name: string): void => {
    if (seen.has(name) || !needs.has(name)) return;
    seen.add(name); // before its dependencies, which is what ends a cycle
    path.push({ name, next: sorted(needs.get(name) ?? []).values() });
  };

  for (const root of sorted(needs.keys())) {
    enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const { done, value } = top.next.next();
      if (done) {
        path.pop();
        order.push(top.name);
      } else enter(value);
    }
  }
  return order;
}

/** JavaScript's own order of strings is the service's: by UTF-16 code unit. */
const sorted = (names: Iterable<string>): string[] => [...names].sort();
