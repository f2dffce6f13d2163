/*! The losses that a run of the generator of plans has allowed. */

export class Named {
  readonly #names: readonly { loss: string; object: string; column: string | undefined }[];
  readonly used = new Set<string>();
  readonly #texts: readonly string[];

  /** @param emptied the views of which a message has said that the loss leaves them empty, also if a refresh would fill them */
  constructor(
    names: readonly string[],
    readonly emptied: ReadonlySet<string>,
  ) {
    this.#texts = names;
    this.#names = names.map(name => {
      const [, loss = '', path = ''] = /^([a-z-]+):(.+)$/s.exec(name) ?? [];
      const [, object = path, column] =
        /^'([^']+)'(?:\.'([^']+)')?$/.exec(path) ?? /^([^.]+)(?:\.(.+))?$/.exec(path) ?? [];
      return { loss, object, column };
    });
  }

  /** Whether one of the names permits a loss of one of these kinds, of an object or a column by any of its names. */
  permit(
    losses: readonly string[],
    objects: readonly string[],
    columns: readonly (string | undefined)[] = [undefined],
  ): boolean {
    const matching = this.#texts.filter((_, i) => {
      const each = this.#names[i];
      return each && losses.includes(each.loss) && objects.includes(each.object) && columns.includes(each.column);
    });
    for (const each of matching) this.used.add(each);
    return matching.length > 0;
  }
}
