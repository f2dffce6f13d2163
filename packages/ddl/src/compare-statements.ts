/*! Compares two statements by their meaning where it is known, otherwise by their tokens. */
import { identify, isObject, isPrincipal, redact } from '@sqlpipe/sql';
import { type Comparison, compareDefinitions, type PropertyDifference } from './compare-definitions.js';
import { DEFAULTS, type Defaults, type Definition, type TableDefinition } from './definition.js';
import { RejectionError } from './grammar/rejection-error.js';
import { parseDefinition } from './parse.js';
import { parsePrincipal } from './principal.js';
import { printDefinition } from './print.js';
import { findQueryDifference } from './query-tokens.js';
import { repair } from './repair.js';
import { isCleanTable } from './repair-table.js';

/** What is known of the server that statements are for. */
export interface CompareOptions {
  /** What it fills in. What is in the form that servers print means the same on each. */
  readonly defaults?: Defaults;
  /** The statement that makes a table, for those made LIKE it. */
  readonly findTable?: (name: string) => string | undefined;
}

/** The result of comparing two statements. */
export interface StatementComparison extends Comparison {
  /** Whether they were compared as text, as one of them is in no syntax that is known here. */
  readonly asText: boolean;
}

const NO_DIFFERENCE: StatementComparison = { differences: [], notComparable: [], asText: false };

/** Compares what two statements make, whatever a server printed wrongly in either. */
export function compareStatements(a: string, b: string, options: CompareOptions = {}): StatementComparison {
  if (a === b) return NO_DIFFERENCE;
  const [{ kind }, { kind: other }] = [identify(a), identify(b)];
  if (isPrincipal(kind) && kind === other) return comparePrincipals(a, b) ?? compareTexts(a, b);
  if (!isObject(kind) || !isObject(other)) return compareTexts(a, b);
  const [inA, inB] = [parseMeaning(a, options), parseMeaning(b, options)];
  return inA && inB ? { ...compareDefinitions(inA, inB), asText: false } : compareTexts(a, b);
}

/** Whether two statements create the same object, as far as is known. */
export const isEquivalent = (a: string, b: string, options?: CompareOptions): boolean =>
  compareStatements(a, b, options).differences.length === 0;

/**
 * What a statement means on a server, misprints repaired and a table made LIKE another resolved; undefined where it is no
 * CREATE of an object that is known here.
 */
export function parseMeaning(
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

function repairAndParse(statement: string, defaults: Defaults): Definition | undefined {
  const text = repair(statement).statement;
  return tryParse(text, isCanonical(text, defaults) ? DEFAULTS : defaults);
}

/** The table at the end of a chain of tables, each made LIKE the next; undefined where there is none, or where it is a circle. */
function findModel(start: Definition, find: (name: string) => Definition | undefined): TableDefinition | undefined {
  const seen = new Set<string>();
  let table: Definition | undefined = start;
  while (table?.kind === 'table' && table.like !== undefined && !seen.has(table.like)) {
    seen.add(table.like);
    table = find(table.like);
  }
  return table?.kind === 'table' && table !== start && table.like === undefined ? table : undefined;
}

function tryParse(statement: string, defaults: Defaults): Definition | undefined {
  try {
    return parseDefinition(statement, defaults);
  } catch (error) {
    if (error instanceof RejectionError) return undefined;
    throw error;
  }
}

/** Whether a server printed it so: then what it does not say is what every server fills in. Only asked where some fill in otherwise. */
function isCanonical(statement: string, defaults: Defaults): boolean {
  if (defaults === DEFAULTS || isCleanTable(statement)) return true;
  const definition = tryParse(statement, DEFAULTS);
  if (!definition) return false;
  const forms = ['9.3', '9.0'] as const;
  return forms.some(form => printDefinition(definition, { form, quoted: true }) === statement);
}

/** Undefined where one of them says more than is known here. */
function comparePrincipals(a: string, b: string): StatementComparison | undefined {
  const [inA, inB] = [parsePrincipal(a), parsePrincipal(b)];
  if (!inA || !inB) return undefined;
  const differ = (one?: string, other?: string) => one !== undefined && other !== undefined && one !== other;
  const differences = (['name', 'owner'] as const)
    .filter(property => differ(inA[property], inB[property]))
    .map((property): PropertyDifference => ({ property, a: inA[property] ?? '', b: inB[property] ?? '' }));
  if (inA.alias !== inB.alias)
    differences.push({ property: 'external alias', a: inA.alias ?? 'none', b: inB.alias ?? 'none' });
  if (differ(inA.credentials, inB.credentials)) differences.push({ property: 'credentials', a: '***', b: '***' });
  const isOpen = (inA.credentials === undefined) !== (inB.credentials === undefined);
  return { differences, notComparable: isOpen ? ['credentials'] : [], asText: false };
}

/** By tokens: white space, comments and the case of keywords do not matter. */
function compareTexts(a: string, b: string): StatementComparison {
  const at = findQueryDifference(a, b);
  if (!at) return { ...NO_DIFFERENCE, asText: true };
  const difference = { property: 'statement', a: lineAt(a, at.a), b: lineAt(b, at.b) };
  return { differences: [difference], notComparable: [], asText: true };
}

/** UTF-16 code units of a line that are shown. */
const WIDTH = 80;

/** The line of a text that holds an offset, or some of it, without secrets: not even how long one is. */
function lineAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - WIDTH / 2);
  const [line = ''] = redact(text)
    .slice(start, start + WIDTH)
    .split('\n', 1);
  return line.trim().replace(/\*{2,}/g, '***');
}
