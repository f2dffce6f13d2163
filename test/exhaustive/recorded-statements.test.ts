/*! Recorded statements and what real servers print of them: both compare as equal, and any change of the print is a difference. */
import { compareStatements, type Definition, printDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { type Engine, whenReady } from '@sqlpipe/engine';
import { foldCase, identify, isObjectKind, type Token, tokens } from '@sqlpipe/sql';
import type { ExecutionContext } from 'ava';
import { type Change, changesOf } from '../support/changes.js';
import { readCorpus } from '../support/corpus.js';
import { databases } from '../support/databases.js';
import { engineWith } from '../support/plans.js';
import { test, testRecorded } from '../support/test.js';

/** A statement that a server accepted, the statements before it, and what servers printed afterwards. */
interface Recorded {
  readonly sql: string;
  readonly setup: readonly string[];
  readonly printed: string[];
}

/** The accepted statements of a file of the corpus that create an object. */
function readRecorded(name: string): Recorded[] {
  return readCorpus(name).flatMap(({ sql, setup, status, show_create, later }) => {
    const results = [{ status, show_create }, later].filter(result => result?.status === 200);
    const printed = [...new Set(results.flatMap(result => result?.show_create || []))];
    const { kind, verb } = identify(sql);
    return printed.length > 0 && verb === 'CREATE' && isObjectKind(kind) ? [{ sql, setup, printed }] : [];
  });
}

/** A statement, what a server printed of it, and the statements before it. */
type Printed = readonly [sql: string, print: string, before: readonly string[]];

/** The statements that are not the same as their print. Logs the others, and how many of these are comparable only in part. */
function findDiffering(t: ExecutionContext, all: readonly Printed[]): string[] {
  let inPart = 0;
  const found = all.flatMap(([sql, print, before]) => {
    const findTable = (name: string) => before.find(each => foldCase(identify(each).name) === foldCase(name));
    const { differences, notComparable, isTokenComparison } = compareStatements(sql, print, { findTable });
    if (isTokenComparison || differences.length > 0) return `${JSON.stringify(sql)}: ${JSON.stringify(differences)}`;
    if (notComparable.length > 0) inPart++;
    return [];
  });
  t.log(`${all.length - found.length} of ${all.length} are the same, ${inPart} of them as far as they can be compared`);
  return found;
}

/** The server answers OK and leaves the existing table, which has another definition. */
const OVER_ANOTHER = 'create table if not exists t (a int, b int)';

for (const name of ['tables', 'views', 'names'])
  testRecorded(`${name}: each statement equals what servers print of it`, t => {
    const all = readRecorded(name).flatMap(({ sql, setup, printed }) =>
      printed.map((print): Printed => [sql, print, setup]),
    );
    const found = findDiffering(
      t,
      all.filter(([sql]) => sql !== OVER_ANOTHER),
    );
    t.deepEqual(found, []);
  });

for (const { name, creation, dump } of databases)
  test(`${name}: each creation statement equals its row of the dump`, t => {
    const rows = new Map(dump.map(row => [nameOf(row), row]));
    const names = creation.map(nameOf);
    const all = creation.flatMap((sql, at): Printed[] => {
      const row = rows.get(names[at]);
      // If several statements create one name, it is unknown which object existed at the end.
      const isOnly = names.indexOf(names[at]) === names.lastIndexOf(names[at]);
      return row !== undefined && isOnly ? [[sql, row, creation]] : [];
    });
    t.deepEqual(findDiffering(t, all), []);
  });

const nameOf = (statement: string): string | undefined => {
  const name = tryParseDefinition(statement)?.name;
  return name === undefined ? undefined : foldCase(name);
};

/** One of a list, another one for each nth; none of an empty list. */
const sample = <T>(list: readonly T[], nth: number): T[] => list.filter((_, at) => at === nth % list.length);

for (const name of ['tables', 'views'])
  testRecorded(`${name}: any change of a printed statement is found as that difference only`, t => {
    const found = new Map<string, number>();
    for (const [nth, { printed }] of readRecorded(name).entries()) {
      const [print = ''] = printed;
      const definition = tryParseDefinition(print);
      if (definition?.kind === 'table' && definition.query !== undefined) continue;
      if (!definition) {
        t.fail(print);
        continue;
      }
      const changes = changesOf(definition).filter(({ property }) => property !== 'query');
      for (const { property, changed } of [...sample(changes, nth), ...changesOfQuery(definition, nth)]) {
        const statement = printDefinition(changed, { quoted: true });
        const properties = compareStatements(print, statement).differences.map(difference => difference.property);
        t.deepEqual(properties, [property], `${print}\n${statement}`);
        const what = property.replace(/'.*'/s, '…');
        found.set(what, (found.get(what) ?? 0) + 1);
      }
    }
    t.log(
      Array.from(found, ([property, count]) => `${property} ${count}`)
        .sort()
        .join(', '),
    );
  });

/** Changes of a query: one of its words or strings is made longer, or removed. */
function changesOfQuery(definition: Definition, nth: number): Change[] {
  if (definition.kind === 'table') return [];
  const all = [...tokens(definition.body)];
  const words = all.filter(({ type }) => type === 'word' || type === 'string');
  const changed = (word: Token, text: string): Change => {
    const body = all.map(token => (token === word ? text : token.text)).join('');
    return { property: 'query', changed: { ...definition, body } };
  };
  return sample(words, nth).flatMap(word => {
    const longer = word.type === 'string' ? `'x${word.text.slice(1)}` : `${word.text}0`;
    return words.length > 1 ? [changed(word, longer), changed(word, '')] : [changed(word, longer)];
  });
}

/** What the engine derives from the statement of a view. */
async function describeView(engine: Engine, name: string) {
  const view = await whenReady(() => engine.catalogue.compileAndFind(name));
  if (!view || view.kind === 'table') return undefined;
  const { kind, timestamp, references } = view;
  const [base, partitionBy] = 'base' in view ? [foldCase(view.base), view.partitionBy] : [];
  const read = engine.catalogue.closure('base' in view ? view : references);
  const columns = view.columns.map(column => `${column.name} ${column.type}`);
  return { kind, timestamp, base, partitionBy, columns, read: [...read].map(foldCase).toSorted() };
}

testRecorded('a loaded view is the one that its CREATE makes', async t => {
  const compared: string[] = [];
  for (const { id, sql, base_ddl = [] } of readCorpus('views')) {
    const statements = [...base_ddl, sql];
    const engine = engineWith([]);
    try {
      for (const statement of statements) await whenReady(() => engine.execute(statement));
    } catch {
      continue; // rejected, or not known to the engine
    }
    const loaded = engineWith(statements);
    for (const { name } of engine.catalogue.list())
      t.deepEqual(await describeView(loaded, name), await describeView(engine, name), `${id}: ${sql}`);
    compared.push(id);
  }
  t.log(`${compared.length} statements`);
  t.true(compared.length > 300);
});
