/** What a server reports of its objects. Names are in lower case. */
export interface Health {
  /** The invalid views and materialized views, with the reasons. */
  readonly invalid?: ReadonlyMap<string, string>;
  /** The tables whose changes are not applied. */
  readonly suspended?: ReadonlySet<string>;
  /** The columns of the invalid materialized views: their queries may give others by now. */
  readonly columns?: ReadonlyMap<string, readonly { readonly name: string; readonly type: string }[]>;
  /** The materialized views that have no rows yet. */
  readonly neverRefreshed?: ReadonlySet<string>;
}
