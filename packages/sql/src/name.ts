import { type Token, unquote } from './tokens.js';

/** What ends a bare name; of what else is no letter or digit the server minds nothing, and some principals have dashes. */
const NAME_TERMINATORS = '();,[]~:*/%+&^|<>=';

/** A name without its quotes and the schema `public`, and where it stands in the text, quotes included: `[start, end)`. */
export interface LocatedName {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The name that begins with a token, bare or in any quotes, without the schema `public`; '' where none begins.
 * @param peek the tokens from there on, white space and comments left out
 */
export function parseName(peek: (distance: number) => Token | undefined): LocatedName & { tokens: number } {
  let at = isPublicSchema(peek(0), peek(1)) ? 2 : 0;
  let name = '';
  const start = peek(at)?.start ?? 0;
  let end = start;
  for (let token = peek(at); token && token.start === end && isNamePart(token); token = peek(at)) {
    name += unquote(token.text);
    end += token.text.length;
    at++;
  }
  return { name, start, end, tokens: at };
}

const isNamePart = ({ type, text }: Token): boolean => type !== 'sign' || !NAME_TERMINATORS.includes(text.charAt(0));

const isPublicSchema = (first?: Token, dot?: Token): boolean =>
  dot?.text === '.' && first !== undefined && first.type !== 'sign' && unquote(first.text).toLowerCase() === 'public';

/** A name as a string literal for our queries: in single quotes, with quotes inside doubled. */
export const quoteLiteral = (name: string): string => `'${name.replaceAll("'", "''")}'`;
