import { type Token, unquote } from './tokens.js';

/** What ends a bare name; of what else is no letter or digit the server minds nothing, and some principals have dashes. */
const NAME_TERMINATORS = '();,[]~:*/%+&^|<>=';

/**
 * The name that begins with a token, bare or in any quotes, without the schema `public`; '' where none begins.
 * @param peek the tokens from there on, white space and comments left out
 */
export function parseName(peek: (distance: number) => Token | undefined): { name: string; tokens: number } {
  let at = isPublicSchema(peek(0), peek(1)) ? 2 : 0;
  let name = '';
  for (let token = peek(at), end = token?.start; token && token.start === end && isNamePart(token); token = peek(at)) {
    name += unquote(token.text);
    end += token.text.length;
    at++;
  }
  return { name, tokens: at };
}

const isNamePart = ({ type, text }: Token): boolean => type !== 'sign' || !NAME_TERMINATORS.includes(text.charAt(0));

const isPublicSchema = (first?: Token, dot?: Token): boolean =>
  dot?.text === '.' && first !== undefined && first.type !== 'sign' && unquote(first.text).toLowerCase() === 'public';

/** A name as a string literal for our queries: in single quotes, with quotes inside doubled. */
export const quoteLiteral = (name: string): string => `'${name.replaceAll("'", "''")}'`;
