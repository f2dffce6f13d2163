/** Items whose first can be waited for before they are read. */
export interface Begun<T> extends AsyncIterable<T> {
  /** Resolves when the first has come, or the end. Throws what the source throws. */
  begin(): Promise<unknown>;
}

/**
 * The items of a source that is opened when they are waited for or read, and no earlier. To be read once.
 *
 * Whoever shares a terminal with the program before it in a pipe waits for its turn so: what comes first down the pipe
 * is sent when that program has no more to ask.
 */
export function begun<T>(open: () => AsyncIterable<T>): Begun<T> {
  let source: AsyncIterator<T> | undefined;
  let first: Promise<IteratorResult<T>> | undefined;
  const next = () => {
    source ??= open()[Symbol.asyncIterator]();
    return source.next();
  };
  const begin = () => {
    first ??= next();
    return first;
  };
  return {
    begin,
    async *[Symbol.asyncIterator]() {
      try {
        for (let item = await begin(); !item.done; item = await next()) yield item.value;
      } finally {
        await source?.return?.();
      }
    },
  };
}
