import { foldCase, identify, kindKeywords, quoteLiteral, significantTokens, TokenReader, unquote } from '@sqlpipe/sql';
import { quoteAclName } from './rights.js';

/** Parses a statement that creates a user, a group or a service account; undefined if it contains an unknown clause. */
export function parsePrincipal(statement: string) {
  const { kind, name } = identify(statement);
  const words = new TokenReader([...significantTokens(statement)].filter(({ text }) => text !== ';'));
  words.skipTo(kindKeywords(kind).split(' ').at(-1) as string);
  words.next();
  words.accept('IF NOT EXISTS');
  words.readName();
  let owner: string | undefined;
  let credentials: string | undefined; // the password or the key, as written; no server shows it
  let alias: string | undefined; // the name of a group in an external identity provider
  while (words.peek()) {
    if (words.accept('OWNED BY')) owner = foldCase(words.readName().name);
    else if (words.accept('WITH PASSWORD') || words.accept('WITH JWK')) credentials = words.next()?.text;
    // Within any quotes, the server reads two single quotes as one.
    else if (words.accept('WITH EXTERNAL ALIAS') && words.peek())
      alias = unquote(words.next()?.text ?? '', 'server').replaceAll("''", "'");
    else if (!words.accept('WITH NO PASSWORD')) return undefined;
  }
  return { name: foldCase(name), owner, credentials, alias };
}

/** Prints the statements that replace a group's alias; the old alias is removed first. */
export function printAliasChanges(name: string, from: string | undefined, to: string | undefined): string[] {
  const head = `ALTER GROUP ${quoteAclName(name)}`;
  return [
    ...(from === undefined ? [] : [`${head} DROP EXTERNAL ALIAS ${quoteLiteral(from)};`]),
    ...(to === undefined ? [] : [`${head} WITH EXTERNAL ALIAS ${quoteLiteral(to)};`]),
  ];
}
