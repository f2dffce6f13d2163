/*! Resolves the options with which a user requests more than the comparison gives: renames, allowed losses, and rebuilds. */
import type { Engine } from '@sqlpipe/engine';
import { InvalidSelectionError, type Schema } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import { AllowedLosses, type Loss } from './losses.js';
import { resolvePath } from './object-path.js';
import { Renames } from './renames.js';
import type { WantedSchema } from './wanted-schema.js';

/** The options of a plan that contain names. */
export interface RequestOptions {
  /** The names of what may be lost: `drop:trades.qty`, `history:m_1h`. */
  readonly allowLoss?: readonly string[];
  /** Renames of objects and columns: `old=new`, `trades.old=new`. */
  readonly renamed?: readonly string[];
  /** The tables to rebuild if no ALTER can change what differs. */
  readonly rebuild?: readonly string[];
}

/** These options, resolved against both schemas. */
export class Requests {
  readonly #a: WantedSchema;
  readonly renames: Renames;
  readonly #allowed: AllowedLosses;
  readonly #tablesToRebuild: ReadonlySet<string>;

  /**
   * @param engine schema B as it is before the plan
   * @throws InvalidSelectionError for names that match nothing or are ambiguous
   */
  constructor(a: WantedSchema, b: Schema, engine: Engine, options: RequestOptions) {
    this.#a = a;
    this.renames = new Renames(a, b, engine, options.renamed ?? []);
    this.#allowed = new AllowedLosses(options.allowLoss ?? [], this.renames.findColumns);
    this.#tablesToRebuild = new Set((options.rebuild ?? []).map(name => this.#tableToRebuild(name)));
  }

  /** Whether a loss is allowed, by the old name of a renamed object or by its new one. */
  mayLose(loss: Loss): boolean {
    return this.#allowed.has(loss, this.renames.otherName(loss.object));
  }

  /** The values of --allow-loss that allowed something, and those that did not. */
  allowedLosses(): { used: string[]; unused: string[] } {
    return this.#allowed.names();
  }

  /** Whether a table is to be rebuilt if it differs. */
  isToRebuild(table: string): boolean {
    return this.#tablesToRebuild.has(foldCase(table));
  }

  /** Resolves a value of --rebuild. @returns the name of a table in lower case */
  #tableToRebuild(name: string): string {
    const path = resolvePath(name, this.renames.findColumns);
    if (this.#a.findObject(path?.object ?? '')?.kind !== 'table')
      throw new InvalidSelectionError(`--rebuild ${name}: A has no such table`);
    return foldCase(path?.object ?? '');
  }
}
