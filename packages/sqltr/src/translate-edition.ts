/*! Translates from one edition to the other: storage policies and TTL, owners, access control. */
import { isUnderstood, ownerOf, removeOwner } from '@sqlpipe/ddl';
import { identify, isAcl, keywordOf, type Token } from '@sqlpipe/sql';
import { truncate } from '@sqlpipe/text';
import type { Adapted } from './adapt.js';
import { replaceClauses, tableClause } from './clauses.js';

const OPEN_SOURCE = 'the open source edition has no';

/** Translates a statement for the open source edition. */
export function toOpenSource(statement: string): Adapted {
  const { kind } = identify(statement);
  if (isAcl(kind)) return { losses: [`removed, because ${OPEN_SOURCE} access control`] };
  if (kind === 'other' || !/\b(?:owned|storage)\b/i.test(statement)) return { statement, losses: [] };
  if (!isUnderstood(statement, kind)) return { statement, losses: [UNKNOWN] };
  const named = ownerOf(statement);
  const { statement: kept, losses } = kind === 'table' ? withoutPolicy(statement) : { statement, losses: [] };
  if (named === undefined) return { statement: kept, losses };
  return {
    statement: removeOwner(kept),
    losses: [...losses, `OWNED BY ${truncate(named, 140)} is removed, because ${OPEN_SOURCE} owners`],
  };
}

/** The loss of a statement that is not understood: it is not changed. */
export const UNKNOWN = 'not changed, because its syntax is unknown';

/** Replaces a storage policy by the TTL after which no data is left, if there is such a time. */
function withoutPolicy(statement: string): { statement: string; losses: string[] } {
  const clause = tableClause(statement, 'STORAGE');
  if (!clause) return { statement, losses: [] };
  const stages = stagesIn(clause.tokens);
  const ttl = stages.get('DROP REMOTE') ?? (stages.has('TO REMOTE') ? undefined : stages.get('DROP LOCAL'));
  const translated = ttl === undefined ? '' : `TTL ${ttl}`;
  const isSame = stages.size === 1 && stages.has('DROP LOCAL');
  const policy = `STORAGE POLICY(${Array.from(stages, stage => stage.join(' ')).join(', ')})`;
  return {
    statement: replaceClauses(statement, [clause], () => translated && ` ${translated}`),
    losses: isSame ? [] : [`${policy} becomes ${translated || 'nothing'}, because ${OPEN_SOURCE} such stages`],
  };
}

/** The stages of a policy, such as `DROP LOCAL`, each with its time: `1 MONTH`. */
function stagesIn(tokens: readonly Token[]): Map<string, string> {
  const stages = new Map<string, string>();
  let at = 3; // STORAGE POLICY (
  while (at < tokens.length - 1) {
    const end = tokens.findIndex(({ text }, i) => i >= at && (text === ',' || text === ')'));
    const [words, length] = [tokens.slice(at, at + 2), tokens.slice(at + 2, end)];
    stages.set(words.map(keywordOf).join(' '), length.map(({ text }) => text).join(' '));
    at = end + 1;
  }
  return stages;
}

/** Replaces a table's TTL by the storage policy that the enterprise edition would create and print for it. */
export function toEnterprise(statement: string): Adapted {
  const isTable = identify(statement).kind === 'table' && /\bttl\b/i.test(statement);
  const clause = isTable && isUnderstood(statement, 'table') ? tableClause(statement, 'TTL') : undefined;
  const [, ...length] = clause?.tokens ?? [];
  if (!clause || /^0+\D*$/.test(length[0]?.text ?? '')) return { statement, losses: [] };
  const ttl = length.map(({ text }) => text).join(' ');
  return { statement: replaceClauses(statement, [clause], () => `\nSTORAGE POLICY(DROP LOCAL ${ttl})`), losses: [] };
}
