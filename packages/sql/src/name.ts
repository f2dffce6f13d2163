import { type Token, unquote } from './tokens.js';

/** The characters that end a bare name. The server accepts all others, and the names of some principals have dashes. */
const NAME_TERMINATORS = '();,[]~:*/%+&^|<>=';

/** A name without quotes and without the schema `public`, and its position in the text, with quotes. */
export interface LocatedName {
  readonly name: string;
  readonly position: number;
}

/** A name whose text is `[position, end)`. */
export interface NameSpan extends LocatedName {
  readonly end: number;
}

/**
 * Parses a name, bare or in any quotes, and drops the schema `public`. The name is '' if the first token starts none.
 * @param peek returns the token at a distance from the first one; white space and comments do not count
 */
export function parseName(peek: (distance: number) => Token | undefined): NameSpan & { tokens: number } {
  let at = isPublicSchema(peek(0), peek(1)) ? 2 : 0;
  let name = '';
  const position = peek(at)?.start ?? 0;
  let end = position;
  for (let token = peek(at); token && token.start === end && isNamePart(token); token = peek(at)) {
    name += unquote(token.text);
    end += token.text.length;
    at++;
  }
  return { name, position, end, tokens: at };
}

const isNamePart = ({ type, text }: Token): boolean => type !== 'sign' || !NAME_TERMINATORS.includes(text.charAt(0));

const isPublicSchema = (first?: Token, dot?: Token): boolean =>
  dot?.text === '.' && first !== undefined && first.type !== 'sign' && unquote(first.text).toLowerCase() === 'public';

/** A name as a string literal for our queries: in single quotes, with quotes inside doubled. */
export const quoteLiteral = (name: string): string => `'${name.replaceAll("'", "''")}'`;
