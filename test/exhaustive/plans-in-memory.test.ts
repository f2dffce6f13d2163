/*! Plans for random pairs of schemas, and for recorded databases, executed on an engine in memory. */
import { strict as assert } from 'node:assert';
import { type TableDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { planChanges, planUndo } from '@sqlpipe/plan';
import { parsePlanHead, printPlan } from '@sqlpipe/plan/text';
import { compareSchemas } from '@sqlpipe/schema';
import { identify, isObjectKind, isPrincipalKind } from '@sqlpipe/sql';
import { databases } from '../support/databases.js';
import { enterprisePair } from '../support/enterprise-pairs.js';
import { executeAll, lossesOf, textsOf } from '../support/plans.js';
import { type SchemaPair, schemaPair } from '../support/schema-pairs.js';
import { test, testRecorded } from '../support/test.js';

test('random pairs: a plan loses nothing unless allowed, a second plan is empty, and the way back leads back', async t => {
  // In the pair 86, a rename and a lossy conversion make the same view invalid.
  for (const seed of [...new Array(30).keys(), 86]) {
    const { before, after, renamed, changes } = schemaPair(seed);
    const careful = await planChanges(after, before, { renamed });
    const lossy = careful.statements.flatMap(({ effects }) =>
      effects.filter(({ type, kind }) => type === 'lost' && kind === 'table'),
    );
    t.deepEqual(lossy, [], `seed ${seed}: ${changes}`);
    const allowLoss = lossesOf(careful);
    const bold = await planChanges(after, before, { renamed, allowLoss });
    const named = new Set(careful.omissions.filter(({ losses }) => losses.length > 0).map(({ what }) => what));
    const again = bold.omissions.filter(({ losses, what }) => losses.length > 0 && named.has(what));
    t.deepEqual(again, [], `seed ${seed}: all names that a change needs stand in the first message`);
    const result = await executeAll(before, textsOf(bold));
    const second = await planChanges(after, result, { renamed, allowLoss });
    t.deepEqual(textsOf(second), [], `seed ${seed}: ${changes}`);
    const carefulUndo = await planUndo(bold, before);
    const dropped = lossesOf(carefulUndo).filter(loss => loss.startsWith('drop'));
    t.deepEqual(dropped, [], `seed ${seed}: what the plan created goes without permission`);
    const rest = await planChanges(before, await executeAll(result, textsOf(carefulUndo)));
    t.deepEqual(textsOf(rest), [], `seed ${seed}: the undo does all that needs no permission`);
    const boldUndo = await planUndo(bold, before, { allowLoss: lossesOf(carefulUndo) });
    const { differences } = compareSchemas(before, await executeAll(result, textsOf(boldUndo)));
    const found = differences.flatMap(({ identity, comparison }) =>
      (comparison?.differences ?? [{ property: 'existence' }]).map(({ property }) => `${identity.name}: ${property}`),
    );
    const omitted = boldUndo.omissions.flatMap(({ identity, properties }) =>
      properties.map(property => `${identity.name}: ${property}`),
    );
    t.deepEqual(found, omitted, `seed ${seed}: with permission, it restores what an ALTER can`);
    for (const { reasons } of boldUndo.omissions)
      for (const reason of reasons) t.regex(reason, /^cannot be altered|^no ALTER changes the order of columns$/);
  }
});

/** Whoever and whatever was there is there, under its new name where it has one: tables with all their columns, keys and rows. */
function checkNothingIsGone({ before, names }: SchemaPair, after: readonly string[], about: string): void {
  const found = new Map(after.map(statement => [keyOf(statement), statement]));
  for (const statement of before) {
    const { kind, name } = identify(statement);
    if (!isObjectKind(kind) && !isPrincipalKind(kind)) continue;
    const known = names.get(name);
    const now = found.get(keyOf(statement)) ?? found.get(`table ${known?.name}`);
    assert.ok(now !== undefined, `${about}: lost ${kind} '${name}'`);
    const [was, is] = [tryParseDefinition(statement), tryParseDefinition(now)];
    if (was?.kind !== 'table' || is?.kind !== 'table') continue;
    for (const column of was.columns) {
      const renamed = known?.columns.get(column.name);
      const left = is.columns.find(each => each.name === column.name || each.name === renamed);
      assert.ok(left, `${about}: lost column '${column.name}' of '${name}'`);
      assert.ok(left.dedup || !column.dedup, `${about}: lost dedup key '${column.name}' of '${name}'`);
    }
    assert.ok(hoursKept(is) >= hoursKept(was), `${about}: '${name}' keeps its rows for less long`);
  }
}

const keyOf = (statement: string): string => {
  const { kind, name } = identify(statement);
  return `${kind} ${name}`;
};

function hoursKept({ policy, ttl }: TableDefinition): number {
  const lengths = [ttl, policy?.after['DROP LOCAL'] ?? 0, policy?.after['DROP REMOTE'] ?? 0].filter(
    length => length !== 0,
  );
  return Math.min(...lengths.map(length => (length > 0 ? length : -length * 30 * 24)));
}

test('random pairs with access control: a plan leads where it should, and a second one is empty', async t => {
  for (let seed = 0; seed < 10; seed++) {
    const pair = enterprisePair(seed);
    const { before, after, renamed, changes } = pair;
    const careful = await planChanges(after, before, { renamed });
    checkNothingIsGone(pair, await executeAll(before, textsOf(careful)), `seed ${seed}: ${changes}`);
    const allowLoss = lossesOf(careful);
    const plan = await planChanges(after, before, { renamed, allowLoss });
    const result = await executeAll(before, textsOf(plan));
    const again = await planChanges(after, result, { renamed, allowLoss });
    t.deepEqual(textsOf(again), [], `seed ${seed}: ${changes}`);
    const printed = printPlan(plan, before);
    const { verbs = [] } = parsePlanHead(printed[0] ?? '') ?? {};
    const others = printed.map(identify).filter(({ kind }) => kind === 'other');
    const found = others.map(({ verb }) => verb).filter(verb => verb !== 'SELECT' && !verbs.includes(verb));
    t.deepEqual(found, [], 'what --allow-plan does not allow');
  }
});

testRecorded('recorded databases: a plan omits nothing if all losses are allowed', async t => {
  for (const [i, a] of databases.entries()) {
    const { statements, omissions } = await planChanges(a.statements, a.statements);
    t.deepEqual({ statements, omissions }, { statements: [], omissions: [] }, a.name);
    const b = databases[i + 1];
    if (!b || i % 2 === 1) continue; // the others have the same kinds of objects
    const allowLoss = lossesOf(await planChanges(a.statements, b.statements));
    const bold = await planChanges(a.statements, b.statements, { allowLoss });
    t.true(bold.statements.length > 0);
    const wrong = bold.omissions.filter(({ losses }) => losses.length > 0);
    t.deepEqual(wrong, [], `${a.name} from ${b.name}`);
  }
});
