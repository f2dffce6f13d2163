/*!
 * Finds the steps after which no refresh repairs a view that is invalid in B. Perhaps an interrupted plan made the view invalid, and would
 * have refreshed it. Then the next plan has to leave the view as repairable as it is: it must not drop a column that the view reads.
 */
import type { Engine, Execution } from '@sqlpipe/engine';
import { NameMap, NameSet } from '@sqlpipe/sql';
import { printFullRefresh } from '../statements.js';

export class RepairableViews {
  /** The views of B that a refresh would repair before the first step. */
  readonly #views: NameSet;
  readonly #engine: Engine;
  readonly #unrepairableSince = new NameMap<number>();

  /** @param engine has B; it executes the steps later */
  constructor(engine: Engine) {
    this.#engine = engine;
    this.#views = this.#findRepairable([...engine.invalidViews().keys()]);
  }

  recordStep({ transitions }: Execution, index: number): void {
    if (this.#views.size === 0) return;
    const changed = transitions.filter(({ before, after }) => before?.columns !== after?.columns);
    const names = this.#engine.catalogue.withReaders(changed.map(({ name }) => name));
    const affected = [...this.#views].filter(view => names.has(view));
    const repairable = this.#findRepairable(affected);
    for (const view of affected)
      if (repairable.has(view)) this.#unrepairableSince.delete(view);
      else if (!this.#unrepairableSince.has(view)) this.#unrepairableSince.set(view, index);
  }

  /** The index of the step after which no refresh repairs the view any more, as a list; empty if a refresh repairs it, or never did. */
  findCauses(view: string): readonly number[] {
    const index = this.#unrepairableSince.get(view);
    return index === undefined ? [] : [index];
  }

  /** Finds the views that are valid, or would be if they and the invalid views below them were refreshed. */
  #findRepairable(names: readonly string[]): NameSet {
    const { catalogue } = this.#engine;
    const findView = (name: string) => {
      const object = catalogue.find(name);
      return object?.kind === 'materialized view' ? object : undefined;
    };
    const toRefresh = new NameSet(names);
    for (const name of toRefresh) {
      const base = findView(findView(name)?.base ?? '');
      if (base?.invalidReason !== undefined) toRefresh.add(base.name); // the set grows during the loop
    }
    return this.#engine.tryOut(() => {
      for (const { kind, name } of catalogue.inDependencyOrder([...toRefresh]))
        if (kind === 'materialized view') this.#engine.execute(printFullRefresh(name));
      const views = names.flatMap(name => findView(name) ?? []);
      return new NameSet(views.filter(view => view.invalidReason === undefined).map(({ name }) => name));
    });
  }
}
