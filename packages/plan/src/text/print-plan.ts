import { createHash } from 'node:crypto';
import { type Definition, findAffectedObjects, printDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { dumpOrder, Schema } from '@sqlpipe/schema';
import { foldCase, identify, isObjectKind, type KindAndName, NameSet } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import { formatState } from './head.js';

interface PrintablePlan {
  readonly statements: readonly { readonly statement: string; readonly comments: readonly string[] }[];
  readonly remarks: readonly string[];
}

/** The first statement starts with the head. @param b the statements of the schema that the plan is for */
export function printPlan({ statements, remarks }: PrintablePlan, b: Iterable<string>): string[] {
  const plain = statements.map(({ statement }) => statement);
  const state = computeFingerprint(plain, b);
  const verbs = findVerbsToAllow(plain);
  return statements.map(({ statement, comments }, i) => {
    const head = i === 0 ? [formatState(state, plain.length, verbs), ...remarks] : [];
    return [...[...head, ...comments].map(line => `-- ${escapeControls(line)}\n`), statement].join('');
  });
}

/** The values of --allow that sqlapply needs for statements that no dump contains. Assertions need none. */
export function findVerbsToAllow(statements: readonly string[]): string[] {
  const verbs = statements
    .map(identify)
    .flatMap(({ kind, verb }) => (kind === 'other' && verb !== 'SELECT' ? [verb] : []));
  return [...new Set(verbs)].sort();
}

/** Sorted and without duplicates. */
export function findPlannedObjects(statements: readonly string[]): KindAndName[] {
  const found = new Map<string, KindAndName>();
  // In `DROP TABLE T; CREATE TABLE t`, both names mean one object. The first one counts, because it is the target's.
  for (const object of statements.flatMap(findAffectedObjects).reverse())
    if (isObjectKind(object.kind)) found.set(`${foldCase(object.name)} ${object.kind}`, object);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** Without a START in the statement, a timer starts at the time of the server's clock. So the start is no part of the fingerprint. */
const removeStart = (definition: Definition): Definition =>
  definition.kind === 'materialized view'
    ? { ...definition, refresh: { ...definition.refresh, start: undefined } }
    : definition;

/**
 * A hash of what a plan relies on: the definitions of the objects that it changes, and of all views that read from those.
 * @param definitions those of a schema, at least of these objects
 */
export function computeFingerprint(plan: readonly string[], definitions: Iterable<string>): string {
  const schema = new Schema(definitions);
  const planned = findPlannedObjects(plan);
  const hash = createHash('sha256');
  for (const { kind, name } of [...planned, ...findReaders(planned, schema)]) {
    const entry = schema.findObject(name);
    const statement = entry?.kind === kind ? entry.statement : '';
    const definition = tryParseDefinition(statement);
    const text = definition ? printDefinition(removeStart(definition), { quoted: true }) : statement;
    hash.update(`${kind}\0${foldCase(name)}\0${text}\0`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Finds the views that read the objects, also through other views; sorted. */
function findReaders(objects: readonly KindAndName[], schema: Schema): KindAndName[] {
  const reached = new NameSet(objects.map(({ name }) => name));
  const readers = dumpOrder(schema).filter(({ kind, name }) => {
    const reads = isObjectKind(kind) ? (schema.dependencies().get(name) ?? []) : [];
    const isReader = !reached.has(name) && reads.some(each => reached.has(each));
    if (isReader) reached.add(name);
    return isReader;
  });
  return readers.sort((a, b) => (foldCase(a.name) < foldCase(b.name) ? -1 : 1));
}
