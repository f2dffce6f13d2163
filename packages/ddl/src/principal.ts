/*! Parses CREATE USER, GROUP and SERVICE ACCOUNT, and ALTER GROUP. */
import {
  foldCase,
  identify,
  type Kind,
  keywordOf,
  parseName,
  significantTokens,
  type Token,
  unquote,
} from '@sqlpipe/sql';
import { quotePrincipal } from './rights.js';

/** A user, a group or a service account. */
export interface Principal {
  readonly kind: Kind;
  readonly name: string;
  /** The owner, if the statement names one. */
  readonly owner?: string | undefined;
  /** The password or the key, as written; no server shows it. */
  readonly credentials?: string | undefined;
  /** Groups only: what it is called elsewhere. */
  readonly alias?: string | undefined;
}

/** An ALTER GROUP that gives another alias, or takes it away. */
export interface AliasChange {
  readonly group: string;
  readonly alias: string | undefined;
}

/** Parses a statement that creates a user, a group or a service account; undefined if it contains an unknown clause. */
export function parsePrincipal(statement: string): Principal | undefined {
  const { kind, name } = identify(statement);
  const tokens = [...significantTokens(statement)].filter(({ text }) => text !== ';');
  let at = tokens.findIndex(token => ['USER', 'GROUP', 'ACCOUNT'].includes(keywordOf(token))) + 1;
  if (keywordOf(tokens[at]) === 'IF') at += 3;
  at += parseName(distance => tokens[at + distance]).tokens;
  let owner: string | undefined;
  let credentials: string | undefined;
  let alias: string | undefined;
  for (let word = keywordOf(tokens[at]); at < tokens.length; word = keywordOf(tokens[at])) {
    if (word === 'OWNED' && keywordOf(tokens[at + 1]) === 'BY') {
      const { name: named, tokens: length } = parseName(distance => tokens[at + 2 + distance]);
      owner = foldCase(named);
      at += 2 + length;
    } else if (word === 'WITH' && ['PASSWORD', 'JWK'].includes(keywordOf(tokens[at + 1]))) {
      credentials = tokens[at + 2]?.text;
      at += 3;
    } else if (isAlias(tokens, at)) {
      alias = readText(tokens[at + 3]);
      at += 4;
    } else if (word === 'WITH' && keywordOf(tokens[at + 1]) === 'NO') at += 3;
    else return undefined;
  }
  return { kind, name: foldCase(name), owner, credentials, alias };
}

/** `WITH EXTERNAL ALIAS` and its text. */
const isAlias = (tokens: readonly Token[], at: number): boolean =>
  ['WITH', 'EXTERNAL', 'ALIAS'].every((word, i) => keywordOf(tokens[at + i]) === word) && tokens[at + 3] !== undefined;

const readText = (token: Token | undefined): string => unquote(token?.text ?? '').replaceAll("''", "'");

const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The statement that creates a group. */
export const printGroup = (name: string, alias: string | undefined): string =>
  `CREATE GROUP ${quotePrincipal(name)}${alias === undefined ? '' : ` WITH EXTERNAL ALIAS ${quoteText(alias)}`};`;

/** The statements that give a group another alias: the one that it has goes first. */
export function printAliasChanges(name: string, from: string | undefined, to: string | undefined): string[] {
  const head = `ALTER GROUP ${quotePrincipal(name)}`;
  return [
    ...(from === undefined ? [] : [`${head} DROP EXTERNAL ALIAS ${quoteText(from)};`]),
    ...(to === undefined ? [] : [`${head} WITH EXTERNAL ALIAS ${quoteText(to)};`]),
  ];
}

/** What an ALTER GROUP does; undefined where it is none, or says more than is known here. */
export function parseAliasChange(statement: string): AliasChange | undefined {
  const [alter, kind, ...rest] = [...significantTokens(statement)].filter(({ text }) => text !== ';');
  if (keywordOf(alter) !== 'ALTER' || keywordOf(kind) !== 'GROUP') return undefined;
  const { name, tokens } = parseName(distance => rest[distance]);
  const change = rest.slice(tokens);
  if (!name || change.length !== 4) return undefined;
  if (isAlias(change, 0)) return { group: name, alias: readText(change[3]) };
  const isDrop = ['DROP', 'EXTERNAL', 'ALIAS'].every((word, i) => keywordOf(change[i]) === word);
  return isDrop ? { group: name, alias: undefined } : undefined;
}
