/*!
 * chevrotain as QuestDB's grammar gets it: how the alternatives of a rule are told apart is computed when a text first needs it, not at
 * the start for all rules, of which a query uses few. Tokens are not checked: they never change.
 */
import type { ILookaheadStrategy, IParserConfig, TokenType } from 'chevrotain';
import { CstParser as AnyCstParser, Lexer as AnyLexer, LLkLookaheadStrategy } from 'chevrotain';

export * from 'chevrotain';

/** A lexer of tokens that need no check, and whose lines nobody asks for: to know which tokens may end one takes a third of its start. */
export class Lexer extends AnyLexer {
  constructor(tokens: TokenType[]) {
    super(tokens, { skipValidations: true, positionTracking: 'onlyOffset' });
  }
}

/** A parser that starts without having looked at its alternatives. */
export class CstParser extends AnyCstParser {
  constructor(tokens: TokenType[], config: IParserConfig) {
    super(tokens, { ...config, lookaheadStrategy: whenNeeded(new LLkLookaheadStrategy(config)) });
  }
}

/** The same strategy, computed for each place of the grammar when a text reaches it. */
const whenNeeded = (strategy: ILookaheadStrategy): ILookaheadStrategy => ({
  validate: options => strategy.validate(options),
  buildLookaheadForAlternation: options => whenCalled(() => strategy.buildLookaheadForAlternation(options)),
  buildLookaheadForOptional: options => whenCalled(() => strategy.buildLookaheadForOptional(options)),
});

/** A function that makes the one it stands for when it is first called. */
function whenCalled<T, A extends unknown[], R>(make: () => (this: T, ...args: A) => R): (this: T, ...args: A) => R {
  let made: ReturnType<typeof make> | undefined;
  return function (...args) {
    made ??= make();
    return made.apply(this, args);
  };
}
