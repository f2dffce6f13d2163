/*! Properties of any definition: parsing inverts printing, all spellings compare as equal, and every change is found. */
import {
  type Comparison,
  compareDefinitions,
  compareStatements,
  type Definition,
  type PrintOptions,
  parseDefinition,
  printDefinition,
  propertiesOf,
  repair,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { foldCase, OBJECT_KINDS } from '@sqlpipe/sql';
import { changesOf } from '../support/changes.js';
import { definitions } from '../support/definitions.js';
import { anyCharacter, fc, forAll } from '../support/seed.js';
import { spell } from '../support/spellings.js';
import { test } from '../support/test.js';

const choices = fc.array(fc.nat(11), { size: 'large', maxLength: 400 });

/** What a server with this form prints of a definition; all of it in the complete form. Without undefined values. */
function printableProperties(definition: Definition, form: PrintOptions['form']): object {
  const shown: Record<string, unknown> = { ...definition };
  if (form !== 'complete') delete shown.indexes;
  if (form !== 'complete' && definition.kind === 'materialized view') delete shown.timestamp;
  if (definition.kind === 'table') {
    const { maxUncommittedRows, o3MaxLag, policy } = definition;
    if (policy?.disabled) delete shown.policy;
    const isPrinted = form !== '9.3' && maxUncommittedRows !== undefined && o3MaxLag !== undefined;
    if (form !== 'complete' && !isPrinted) Object.assign(shown, { maxUncommittedRows: undefined, o3MaxLag: undefined });
    shown.columns = definition.columns.map(({ capacity, parquet, ...column }) => ({
      ...column,
      ...(form !== '9.3' && { capacity }),
      ...(parquet && { parquet }),
    }));
  }
  if (shown.indexes instanceof Map) shown.indexes = [...shown.indexes];
  return JSON.parse(JSON.stringify(shown));
}

/** No server prints the AS of a table, so its names are not repaired. */
const isPrinted = (definition: Definition): boolean => !('query' in definition);

for (const form of ['9.3', '9.0', 'complete'] as const)
  for (const quoted of form === 'complete' ? [true] : [true, false])
    test(`definitions printed as QuestDB ${form}, ${quoted ? 'quoted' : 'bare'}, parse back to the same definition`, t =>
      forAll(100, quoted ? definitions : definitions.filter(isPrinted), definition => {
        const printed = printDefinition(definition, { form, quoted });
        const statement = quoted ? printed : repair(printed).statement;
        const found = printableProperties(parseDefinition(statement), form);
        t.deepEqual(found, printableProperties(definition, form), statement);
      }));

test('an ALTER sets its own property, and no other than those of a kind that has it', t => {
  for (const kind of OBJECT_KINDS) {
    const names = propertiesOf(kind).map(({ name }) => name);
    for (const { name, alter } of propertiesOf(kind)) {
      t.is(alter?.sets[0] ?? name, name);
      for (const set of alter?.sets ?? []) t.true(names.includes(set), set);
    }
  }
});

test('two spellings of a definition compare as equal', t =>
  forAll(200, definitions, choices, choices, (definition, one, other) => {
    const [a, b] = [spell(definition, one), spell(definition, other)];
    const { differences, isTokenComparison } = compareStatements(a, b);
    t.deepEqual({ differences, isTokenComparison }, { differences: [], isTokenComparison: false }, `${a}\n${b}`);
  }));

test('a statement equals its printed form, in the format of any server', t =>
  forAll(200, definitions, choices, fc.constantFrom('9.3', '9.0'), fc.boolean(), (definition, how, form, quoted) => {
    const options = { form: form as '9.3' | '9.0', quoted: quoted || !isPrinted(definition) };
    const [a, b] = [spell(definition, how), printDefinition(definition, options)];
    t.deepEqual(compareStatements(a, b).differences, [], `${a}\n${b}`);
    t.deepEqual(compareStatements(b, a).differences, [], `${a}\n${b}`);
  }));

const changes = definitions.chain(definition =>
  fc.record({ definition: fc.constant(definition), change: fc.constantFrom(...changesOf(definition)) }),
);

test('one changed property is the only reported difference', t => {
  const properties = new Set<string>();
  forAll(300, changes, choices, choices, ({ definition, change: { property, changed } }, one, other) => {
    // A statement may omit the base; then only the server can infer it.
    const [a, b] =
      property === 'base'
        ? [spell(definition, []), spell(changed, [])]
        : [spell(definition, one), spell(changed, other)];
    t.deepEqual(differing(a, b), [property], `${a}\n${b}`);
    t.deepEqual(differing(b, a).map(foldCase), [foldCase(property)], `${b}\n${a}`);
    properties.add(property.replace(/'.*'/, '…'));
  });
  t.log([...properties].sort().join(', '));
});

/** The properties in which two statements differ, none of them found by comparing texts. */
function differing(a: string, b: string): string[] {
  const { differences, isTokenComparison } = compareStatements(a, b);
  return isTokenComparison ? ['text'] : differences.map(({ property }) => property);
}

test('definitions compare with the same result as their statements', t =>
  forAll(100, definitions, definitions, (one, other) => {
    const properties = ({ differences }: Comparison) => differences.map(({ property }) => property);
    const [a, b] = [spell(one, []), spell(other, [])];
    t.deepEqual(properties(compareStatements(a, b)), properties(compareDefinitions(one, other)), `${a}\n${b}`);
  }));

const pieces = fc.array(
  fc.constantFrom(
    ...'create table view materialized live like as select cast index timestamp partition by day ttl 1 week dedup upsert keys with base'.split(
      ' ',
    ),
    ...'refresh every 1h period length in volume owned storage policy to parquet drop local symbol capacity int double [] null'.split(
      ' ',
    ),
    ...`( ( ) ) , ; ' " \` -- /* */ \n :: . = 表 sample from x t 'a'`.split(' '),
  ),
  { maxLength: 30 },
);

test('the parser throws nothing but RejectionError, for any text', t =>
  forAll(
    1000,
    fc.oneof(
      pieces.map(all => all.join(' ')),
      fc.string({ unit: anyCharacter }),
    ),
    text => {
      const statement = `create ${text}`;
      t.notThrows(() => compareStatements(statement, `${statement} x`));
      t.notThrows(() => tryParseDefinition(statement));
      t.notThrows(() => repair(statement));
      try {
        parseDefinition(statement);
      } catch (error) {
        t.true(error instanceof RejectionError, `${error}: ${statement}`);
      }
    },
  ));
