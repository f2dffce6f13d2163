/*! Parses CREATE USER, GROUP and SERVICE ACCOUNT. */
import { foldCase, identify, type Kind, keywordOf, parseName, significantTokens } from '@sqlpipe/sql';

/** A user, a group or a service account. */
export interface Principal {
  readonly kind: Kind;
  readonly name: string;
  /** The owner, if the statement names one. */
  readonly owner?: string | undefined;
  /** The password or the key, as written; no server shows it. */
  readonly credentials?: string | undefined;
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
  for (let word = keywordOf(tokens[at]); at < tokens.length; word = keywordOf(tokens[at])) {
    if (word === 'OWNED' && keywordOf(tokens[at + 1]) === 'BY') {
      const { name: named, tokens: length } = parseName(distance => tokens[at + 2 + distance]);
      owner = foldCase(named);
      at += 2 + length;
    } else if (word === 'WITH' && ['PASSWORD', 'JWK'].includes(keywordOf(tokens[at + 1]))) {
      credentials = tokens[at + 2]?.text;
      at += 3;
    } else if (word === 'WITH' && keywordOf(tokens[at + 1]) === 'NO') at += 3;
    else return undefined;
  }
  return { kind, name: foldCase(name), owner, credentials };
}
