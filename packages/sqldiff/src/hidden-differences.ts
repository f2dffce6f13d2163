/*! Settings and hidden properties give the same text another meaning on two instances. They are compared if both servers show them. */
import { fetchHiddenProperties } from '@sqlpipe/instance';
import type { SchemaComparison } from '@sqlpipe/schema';
import { addToList, identify } from '@sqlpipe/sql';
import { listFirst } from '@sqlpipe/text';
import type { ReadSides } from './sides.js';

const MAX_LISTED = 3;

/**
 * Warns of statements that are the same on two instances and mean different things there; of none if one side is not an instance. Never
 * fails: a property that an instance does not show is not compared.
 */
export async function findHiddenDifferences(
  [a, b]: ReadSides,
  { differences, ignored }: Pick<SchemaComparison, 'differences' | 'ignored'>,
): Promise<string[]> {
  if (!a.config || !b.config) return [];
  const different = new Set([...differences, ...ignored].map(each => each.a));
  const same = a.statements.filter(statement => !different.has(statement)).map(identify);
  const [inA, inB] = [await fetchHiddenProperties(a.config, same), await fetchHiddenProperties(b.config, same)];
  return [...inA].flatMap(([property, byObject]) => {
    const groups = new Map<string, string[]>();
    for (const [object, value] of byObject) {
      const other = inB.get(property)?.get(object);
      if (other === undefined || other === value) continue;
      addToList(groups, `${property} is ${value} in ${a.label} and ${other} in ${b.label}`, object);
    }
    return Array.from(groups, ([values, objects]) => formatHiddenDifference(values, objects));
  });
}

function formatHiddenDifference(values: string, objects: string[]): string {
  if (objects[0] === '') return `the same text may mean something else: ${values}`;
  return `same text, different meaning: ${listFirst(objects, MAX_LISTED)}: ${values}`;
}
