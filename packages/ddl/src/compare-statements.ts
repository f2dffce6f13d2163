/*! Compares two statements by their meaning where it is known, otherwise by their tokens. */
import { identify, isObject, isPrincipal, type Kind, redact } from '@sqlpipe/sql';
import {
  type Comparison,
  compareDefinitions,
  listDefinitionProperties,
  type PropertyDifference,
} from './compare-definitions.js';
import { parseDefinition } from './create/parse-create.js';
import { DEFAULTS, type Defaults, type Definition, type TableDefinition } from './definition.js';
import { orRejection, RejectionError, unlessRejected } from './grammar/rejection-error.js';
import { parsePrincipal } from './principal.js';
import { printDefinition } from './print.js';
import { EXPLICIT } from './property.js';
import type { PropertyName } from './property-name.js';
import { findQueryDifference } from './query-tokens.js';
import { isCleanTable, repair } from './repair.js';

/** What is known about the server that the statements are for, and about other tables. */
export interface CompareOptions {
  /** What the server fills in if a statement omits it. A statement in printed form means the same on every server. */
  readonly defaults?: Defaults | undefined;
  /** Finds the statement of a table by its name, to resolve CREATE TABLE … LIKE. */
  readonly findTable?: (name: string) => string | undefined;
}

/** The result of comparing two statements. */
export interface StatementComparison extends Comparison {
  /** Whether the statements were compared as text, because the syntax of one of them is unknown. */
  readonly asText: boolean;
}

const TEXT = 'statement';

/** The properties in which two statements of a kind can differ. `*` stands for the name of a column. */
export function listComparedProperties(kind: Kind): PropertyName[] {
  if (isPrincipal(kind)) return ['name', 'owner', 'external alias', 'credentials', TEXT];
  return isObject(kind) ? [...listDefinitionProperties(kind), TEXT] : [];
}

const NO_DIFFERENCE: StatementComparison = { differences: [], notComparable: [], asText: false };

/** Compares two statements by their meaning. Known misprints of servers do not matter. */
export function compareStatements(a: string, b: string, options: CompareOptions = {}): StatementComparison {
  if (a === b) return NO_DIFFERENCE;
  const [{ kind: kindA }, { kind: kindB }] = [identify(a), identify(b)];
  if (isPrincipal(kindA) && kindA === kindB) return comparePrincipals(a, b) ?? compareTexts(a, b);
  if (!isObject(kindA) || !isObject(kindB)) return compareTexts(a, b);
  const [definitionA, definitionB] = [tryParseDefinition(a, options), tryParseDefinition(b, options)];
  if (!definitionA || !definitionB) return compareTexts(a, b, explainUnknown);
  return { ...compareDefinitions(definitionA, definitionB), asText: false };
}

/**
 * Parses a statement into the definition that it has on a server: misprints are repaired, and CREATE TABLE … LIKE is
 * resolved. Returns undefined if the statement does not create an object, or if its syntax is unknown.
 */
export function tryParseDefinition(
  statement: string,
  { defaults = DEFAULTS, findTable }: CompareOptions = {},
): Definition | undefined {
  const definition = repairAndParse(statement, defaults);
  const model =
    findTable &&
    definition &&
    findModel(definition, name => {
      const found = findTable(name);
      return found === undefined ? undefined : repairAndParse(found, defaults);
    });
  return model && definition ? { ...model, name: definition.name, owner: definition.owner } : definition;
}

/**
 * The statement that creates what a statement means, on a server with these defaults. A statement in printed form omits the built-in
 * defaults, which that server may not have: then every property is in it.
 */
export function spellOutDefaults(statement: string, defaults: Defaults): string {
  const [meaning, made] = [repairAndParse(statement, defaults), tryParse(statement, defaults)];
  const isSame = !meaning || !made || compareDefinitions(meaning, made).differences.length === 0;
  return isSame ? statement : printDefinition(meaning, EXPLICIT);
}

function repairAndParse(statement: string, defaults: Defaults): Definition | undefined {
  const text = repair(statement).statement;
  return tryParse(text, isCanonical(text, defaults) ? DEFAULTS : defaults);
}

/** The last table of a chain of tables in which each is LIKE the next; undefined if there is no chain, or if it is a cycle. */
function findModel(start: Definition, find: (name: string) => Definition | undefined): TableDefinition | undefined {
  const seen = new Set<string>();
  let table: Definition | undefined = start;
  while (table?.kind === 'table' && table.like !== undefined && !seen.has(table.like)) {
    seen.add(table.like);
    table = find(table.like);
  }
  return table?.kind === 'table' && table !== start && table.like === undefined ? table : undefined;
}

const tryParse = (statement: string, defaults: Defaults): Definition | undefined =>
  unlessRejected(() => parseDefinition(statement, defaults));

/**
 * Whether a statement is in printed form. What such a statement omits has the built-in defaults, whatever the
 * server's configuration is. With built-in defaults there is no difference, and the result is true.
 */
function isCanonical(statement: string, defaults: Defaults): boolean {
  if (defaults === DEFAULTS || isCleanTable(statement)) return true;
  const definition = tryParse(statement, DEFAULTS);
  if (!definition) return false;
  const forms = ['9.3', '9.0'] as const;
  return forms.some(form => printDefinition(definition, { form, quoted: true }) === statement);
}

/** Compares two statements that create principals; undefined if one of them contains an unknown clause. */
function comparePrincipals(a: string, b: string): StatementComparison | undefined {
  const [principalA, principalB] = [parsePrincipal(a), parsePrincipal(b)];
  if (!principalA || !principalB) return undefined;
  const areDifferent = (one?: string, other?: string) => one !== undefined && other !== undefined && one !== other;
  const differences = (['name', 'owner'] as const)
    .filter(property => areDifferent(principalA[property], principalB[property]))
    .map(
      (property): PropertyDifference => ({ property, a: principalA[property] ?? '', b: principalB[property] ?? '' }),
    );
  if (principalA.alias !== principalB.alias)
    differences.push({ property: 'external alias', a: principalA.alias ?? 'none', b: principalB.alias ?? 'none' });
  if (areDifferent(principalA.credentials, principalB.credentials))
    differences.push({ property: 'credentials', a: '***', b: '***' });
  const isOneSided = (principalA.credentials === undefined) !== (principalB.credentials === undefined);
  return { differences, notComparable: isOneSided ? ['credentials'] : [], asText: false };
}

/** Why the syntax of a statement is unknown, as the start of a text; '' if it is known. */
function explainUnknown(statement: string): string {
  const result = orRejection(() => parseDefinition(repair(statement).statement));
  return result instanceof RejectionError ? `${result.message}: ` : '';
}

/**
 * Compares two statements by their tokens: white space, comments and the case of keywords do not matter.
 * @param explain what to say before a line of a statement
 */
function compareTexts(a: string, b: string, explain: (statement: string) => string = () => ''): StatementComparison {
  const at = findQueryDifference(a, b);
  if (!at) return { ...NO_DIFFERENCE, asText: true };
  const difference: PropertyDifference = {
    property: TEXT,
    a: explain(a) + lineAt(a, at.a),
    b: explain(b) + lineAt(b, at.b),
  };
  return { differences: [difference], notComparable: [], asText: true };
}

/** The maximum number of UTF-16 code units of a line that are shown. */
const WIDTH = 80;

/** The line at an offset of a text, or a part of that line. Secrets are replaced by stars that do not show their length. */
function lineAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - WIDTH / 2);
  const [line = ''] = redact(text)
    .slice(start, start + WIDTH)
    .split('\n', 1);
  return line.trim().replace(/\*{2,}/g, '***');
}
