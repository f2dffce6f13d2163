/*!
 * Changes one random schema with rows into another, on a real server, with sqldiff and sqlapply and random options, and lets something
 * happen in between. What was held before has to be there afterwards, or was named.
 */
import { writeFileSync } from 'node:fs';
import type { Run } from './in-process.js';
import { Named } from './named-losses.js';
import { type Draft, editSome } from './row-edits.js';
import { convertToParquet, DAYS, dayOf, historyOf, insertRows } from './row-history.js';
import { type Change, type Holders, settle, takeHolders } from './row-holders.js';
import {
  apply,
  applyAndKill,
  checkSame,
  lostAfter,
  namesIn,
  type Planned,
  plan,
  type RowServer,
  Runner,
  readPlan,
} from './row-runner.js';
import { find, Names, newSchema, printSchema, quote, readsOf, type Schema, type Table } from './row-schemas.js';
import { randomness } from './schema-pairs.js';
import { execute, type Server } from './server.js';

async function create(run: Runner, schema: Schema, statements: readonly string[]): Promise<void> {
  const { server } = run;
  await server.dropAll();
  for (const statement of statements) {
    if (/^(?:ALTER|REFRESH|TRUNCATE)/.test(statement)) await settle(server);
    const { error } = await server.execute(statement.replace(/;$/, ''));
    run.note(`${statement}${error === undefined ? '' : ` -- REJECTED: ${error}`}`);
    if (error !== undefined) continue;
    if (/DROP PARTITION|TRUNCATE/.test(statement))
      await waitForInvalidation(server, /TABLE '([^']+)'/.exec(statement)?.[1] ?? '');
  }
  await settle(server);
  const existing = new Set((await execute(server, 'SELECT table_name FROM tables()')).map(([name]) => String(name)));
  const remains = (): boolean => {
    const gone = schema.relations.find(
      each => !existing.has(each.name) || readsOf(each).some(uid => !find(schema, uid)),
    );
    if (gone) schema.relations.splice(schema.relations.indexOf(gone), 1);
    return gone === undefined;
  };
  while (!remains());
}

/** The server finds out in the background that the views of a table have lost their base's rows. */
async function waitForInvalidation(server: Server, table: string): Promise<void> {
  const valid = `SELECT count() FROM materialized_views() WHERE base_table_name = '${table}' AND view_status <> 'invalid' AND last_refresh_finish_timestamp IS NOT NULL`;
  for (const started = Date.now(); Date.now() - started < 1_500; await settle(server))
    if ((await execute(server, valid))[0]?.[0] === 0) return;
}

/** The wanted schema, as text with the comments of renames, and the options that state the others. */
function draftOf(
  run: Runner,
  schema: Schema,
  names: Names,
): { after: Schema; options: string[]; text: string; changes: string[]; unstated: Set<number> } {
  const { random } = run;
  const after = structuredClone(schema);
  const draft: Draft = { schema: after, names, stated: new Map(), rebuilt: new Set() };
  const changes = editSome(draft, random);
  const options: string[] = [];
  const comments = new Map<number, string>();
  // A rename that nobody states, or that has to be refused, makes another object. So does the name of one that is dropped.
  const unstated = new Set<number>();
  for (const was of schema.relations) {
    const is = find(after, was.uid);
    if (!is && after.relations.some(each => each.name === was.name)) unstated.add(was.uid);
    if (!is) continue;
    if (is.name !== was.name) {
      const how = draft.stated.get(was.uid);
      const isSwap = after.relations.some(each => each.name === was.name);
      if (how === 'no' || isSwap || schema.relations.some(each => each.name === is.name)) unstated.add(was.uid);
      if (how === 'option' && !isSwap) options.push('--renamed', `'${was.name}'='${is.name}'`);
      else if (how !== 'no' && how !== undefined) comments.set(was.uid, `-- renamed from '${was.name}'\n`);
    }
    for (const column of was.columns) {
      const now = is.columns.find(each => each.uid === column.uid);
      if (!now || now.name === column.name || was.kind !== 'table') continue;
      const how = draft.stated.get(column.uid);
      const isSwap = is.columns.some(each => each.name === column.name);
      if (how === 'no' || isSwap || was.columns.some(each => each.name === now.name)) unstated.add(column.uid);
      if (how === 'option' && !isSwap) options.push('--renamed', `'${was.name}'.'${column.name}'='${now.name}'`);
      else if (how !== 'no' && how !== undefined) comments.set(column.uid, `-- renamed from ${quote(column.name)}`);
    }
    if (draft.rebuilt.has(was.uid)) options.push('--rebuild', `'${is.name}'`);
  }
  const text = printSchema(after, { comment: uid => comments.get(uid) ?? '' }).join('\n');
  return { after, options, text, changes, unstated };
}

/** Rows that somebody adds, with ids that nothing else has. */
class Writer {
  readonly #run: Runner;
  #id: number;

  constructor(run: Runner, id: number) {
    this.#run = run;
    this.#id = id;
  }

  /** Inserts a row into a table under one of its names; the row is then one of those that it holds. */
  async insert(table: Table, later: Table | undefined, day: string, into: Holders): Promise<void> {
    const id = this.#id++;
    // Rows at the same moment could have the same dedup keys.
    const moment = `${day}T23:${10 + (id % 50)}`;
    for (const name of new Set([table.name, later?.name ?? table.name]))
      for (const each of [table, ...(later ? [later] : [])]) {
        const [ts, column] = ['ts', 'id'].map(role => each.columns.find(other => other.role === role)?.name ?? '');
        const text = `INSERT INTO '${name}' (${quote(ts ?? '')}, ${quote(column ?? '')}) VALUES ('${moment}', ${id})`;
        const { error } = await this.#run.server.execute(text);
        if (error !== undefined) continue;
        this.#run.note(`meanwhile: ${text}`);
        const holder = into.get(table.name);
        if (holder)
          (holder.rows as Map<string, string | null>[]).push(
            new Map([
              [ts ?? '', `${moment}:00.000000Z`],
              ['id', String(id)],
            ]),
          );
        return;
      }
  }

  /** As many rows as a table may get, as its definition says. */
  insertMany(table: Table, count: number, start: string): string {
    this.#id += count;
    return insertRows(table, this.#id - count, count, start, 1);
  }
}

/** Somebody else runs a statement. @returns whether the server accepts it */
async function meanwhile(run: Runner, statement: string): Promise<boolean> {
  const { error } = await run.server.execute(statement);
  run.note(`meanwhile: ${statement}${error === undefined ? '' : ` -- REJECTED: ${error}`}`);
  return error === undefined;
}

async function disturb(run: Runner, { change: { before }, writer }: Task): Promise<void> {
  const { random, server } = run;
  const table = random.pick(before.relations.filter((each): each is Table => each.kind === 'table'));
  if (!table) return;
  const day = dayOf(random.pick([1, 2, 3, 4]));
  const statement = random.pick([
    () => writer.insertMany(table, 2, `${day}T03`),
    () => writer.insertMany(table, 2, `${dayOf(DAYS + 1)}T03`),
    () => `ALTER TABLE '${table.name}' DROP PARTITION LIST '${day}'`,
    () => convertToParquet(table, day),
    () => `CREATE VIEW 'their view' AS (SELECT * FROM '${table.name}')`,
  ])();
  if ((await meanwhile(run, statement)) && statement.includes('DROP PARTITION'))
    await waitForInvalidation(server, table.name);
}

function randomOptions(run: Runner, schema: Schema, after: Schema): string[] {
  const { random } = run;
  const all = [...schema.relations, ...after.relations].map(({ name }) => name);
  return [
    ...(random.chance(0.15) ? ['--ignore', random.pick(all) ?? 'x'] : []),
    ...(random.chance(0.05)
      ? ['--ignore', random.pick(['"*: TTL"', 'materialized view', 'column order']).replaceAll('"', '')]
      : []),
    ...(random.chance(0.15) ? ['--ignore-extra'] : []),
    ...(random.chance(0.5) ? ['--drop-old'] : []),
  ];
}

function chooseNames({ random }: Runner, { leftOut, names }: Planned): string[] {
  if (names.length === 0) return [];
  return random.pick([
    () => [],
    () => namesIn([random.pick(leftOut) ?? '']),
    () => [...names],
    () => names.filter(() => random.chance(0.5)),
  ])();
}

export async function runRows(rows: RowServer, folder: string, shell: Run, seed: number): Promise<Runner> {
  const run = new Runner(seed, rows, folder, shell, randomness(seed ^ 0x9e3779));
  // A statement may crash the server.
  await go(run).catch((error: Error) => run.report('the run itself failed', String(error.stack)));
  return run;
}

interface Task {
  readonly change: Change;
  readonly options: readonly string[];
  /** Whether `sqlapply --alter` does it in one step. */
  readonly isOneStep: boolean;
  readonly undo: string | undefined;
  readonly writer: Writer;
}

async function go(run: Runner): Promise<void> {
  const { random, server } = run;
  const task = await prepare(run);
  const first = await plan(run, task.options, []);
  run.leftOut += first.leftOut.length;
  if (first.status > 1) return;
  const allowed = chooseNames(run, first);
  const made = allowed.length > 0 || task.undo ? await plan(run, task.options, allowed, task.undo) : first;
  if (made.status > 1) return;
  run.planned += countChanges(made);
  const between = random.chance(0.34) ? random.pick(['kill', 'kill', 'disturb', 'disturb', 'disturb', 'write']) : '';
  if (between === 'disturb') await disturb(run, task);
  await settle(server);
  const then = await takeHolders(server);
  const words = applyWords(run, task, allowed);
  const isKilled = between === 'kill' && countChanges(made) > 0;
  if (isKilled) {
    await applyAndKill(
      run,
      [...words, run.rows.proxy, run.file(task.isOneStep ? 'after.sql' : 'plan')],
      1 + random.below(countChanges(made)),
    );
    await settle(server);
    await planAgain(run, task, made, allowed);
  }
  if (between === 'write' && !task.options.includes('--rebuild'))
    run.rows.before = () => insertAnywhere(run, task, then);
  const isSuspended = [...then.values()].some(({ kind, broken }) => kind === 'table' && broken !== undefined);
  const target = between === 'write' ? run.rows.proxy : server.url;
  const files = [target, run.file(task.isOneStep ? 'after.sql' : 'plan')];
  const isDisturbed = between === 'disturb' || between === 'write';
  let { status } = made;
  let isApplied = await apply(run, [...words, ...files], isDisturbed || isSuspended);
  const isPlannedAgain = !isApplied && isDisturbed;
  if (isPlannedAgain) {
    // What an assertion has stopped is completed by the same options.
    run.rows.before = async () => {};
    if (!task.isOneStep) ({ status } = await plan(run, task.options, allowed));
    isApplied = await apply(run, [...words, ...files], true);
  }
  run.rows.before = async () => {};
  const named = new Named(allowed, run.emptied);
  run.findings.push(...(await lostAfter(run, then, task.change, named)));
  if (run.findings.length > 0 || !isApplied) return;
  if (status === 0)
    await checkSame(
      run,
      task.options.filter(word => word !== '--drop-old'),
    );
  // The way back is that of the first plan.
  if (status === 0 && task.undo && !isKilled && !isPlannedAgain) await goBack(run, task, named);
  else if (made.names.length > 0) await countNeedless(run, task, allowed);
}

async function prepare(run: Runner): Promise<Task> {
  const { random } = run;
  const names = new Names();
  const before = newSchema(names, random);
  const { statements, nextId } = historyOf(before, random);
  await create(run, before, statements);
  const { after, options, text, changes, unstated } = draftOf(run, before, names);
  writeFileSync(run.file('after.sql'), `${text}\n`);
  run.note(`-- changes: ${changes.join('; ')}`, '-- A:', text, '-- end of A');
  const isOneStep = random.chance(0.2);
  return {
    change: { before, after, unstated },
    options: isOneStep
      ? [...withoutRebuild(options), '--ignore-extra']
      : [...options, ...randomOptions(run, before, after)],
    isOneStep,
    undo: !isOneStep && random.chance(0.2) ? 'undo' : undefined,
    writer: new Writer(run, nextId),
  };
}

const countChanges = ({ statements }: Planned): number =>
  statements.filter(each => !/^(?:\s*--[^\n]*\n)*\s*SELECT/.test(each)).length;

function applyWords({ random }: Runner, { isOneStep, options }: Task, allowed: readonly string[]): string[] {
  const keepGoing = random.chance(0.25) ? ['--keep-going'] : [];
  if (!isOneStep) return ['--allow', 'all', ...keepGoing];
  const losses = allowed.flatMap(name => ['--allow-loss', name]);
  return ['--alter', ...options.filter(word => word !== '--ignore-extra'), ...losses, ...keepGoing];
}

/** After a kill the same options make a plan that needs nothing that the first one did not need. */
async function planAgain(run: Runner, { options }: Task, made: Planned, allowed: readonly string[]): Promise<void> {
  const again = await plan(run, options, allowed);
  const news = again.leftOut.filter(message => !made.leftOut.includes(message));
  if (news.length > 0 && made.status === 0) run.report('more left out after a kill', news.join('\n'));
  if (again.status > 1) run.report('no plan after a kill', `status ${again.status}`);
}

async function insertAnywhere(run: Runner, { change: { before, after }, writer }: Task, then: Holders): Promise<void> {
  const { random } = run;
  const table = random.pick(before.relations.filter((each): each is Table => each.kind === 'table'));
  const later = table && find(after, table.uid);
  const day = dayOf(random.pick([4, 5]));
  if (table) await writer.insert(table, later?.kind === 'table' ? later : undefined, day, then);
}

const withoutRebuild = (options: readonly string[]): string[] =>
  options.filter((word, i) => word !== '--rebuild' && options[i - 1] !== '--rebuild');

async function goBack(run: Runner, { change, writer }: Task, named: Named): Promise<void> {
  const { server, random } = run;
  const { before, after, unstated } = change;
  if (random.chance(0.5))
    for (const table of after.relations)
      if (table.kind === 'table') await meanwhile(run, writer.insertMany(table, 2, `${dayOf(5)}T20`));
  await settle(server);
  const then = await takeHolders(server);
  run.note('$ cat undo', ...readPlan(run.file('undo')).map(each => each.trim()));
  await apply(run, ['--allow', 'all', server.url, run.file('undo')], false);
  const lost = await lostAfter(run, then, { before: after, after: before, unstated }, named);
  // A new view that fills itself goes again.
  const own = lost.filter(
    ({ what, about }) =>
      !(what === 'materialized view gone' && before.relations.every(each => !about.includes(`'${each.name}'`))),
  );
  run.findings.push(...own.map(({ what, about }) => ({ what: `undo: ${what}`, about })));
}

/** Allows every loss that is left, and counts those by which nothing is lost. */
async function countNeedless(run: Runner, { options, change }: Task, before: readonly string[]): Promise<void> {
  const { server } = run;
  const opening = await plan(run, options, before);
  if (opening.status > 1 || opening.names.length === 0) return;
  const allowed = [...before, ...opening.names];
  const made = await plan(run, options, allowed);
  if (made.status > 1) return;
  // The old table of a rebuild is dropped by a change of its own.
  const late = made.names.filter(name => !allowed.includes(name) && !/^drop:.*\./.test(name));
  if (late.length > 0) run.report('named only after others were allowed', late.join(' '));
  const then = await takeHolders(server);
  const isApplied = await apply(run, ['--allow', 'all', server.url, run.file('plan')], false);
  const named = new Named(allowed, run.emptied);
  run.findings.push(...(await lostAfter(run, then, change, named)));
  if (!isApplied) return;
  const counted = opening.names.filter(name => /^(history|values|ttl):/.test(name));
  run.allowed.push(...counted);
  run.needless.push(...counted.filter(name => !named.used.has(name)));
}
