/*!
 * Predicts in a dry run which values an ALTER would lose, and whether it would damage its table. The target is asked what a planner asks,
 * about its rows before the run.
 */
import {
  type Command,
  findColumn,
  isLossless,
  isPartitionCommand,
  isPartitionConversion,
  type PartitionCommand,
  parseAlters,
  parseCommand,
  parseFill,
  parsePartitionName,
} from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/parser';
import {
  type CatalogueObject,
  type Conversion,
  type Effect,
  type Engine,
  type Execution,
  effectOn,
  type RowAccount,
  type Table,
} from '@sqlpipe/engine';
import {
  findConversion,
  findPartitionConditions,
  findValueConditions,
  formatChangedValues,
  pathKey,
  type RowCondition,
  type ServerAnswers,
} from '@sqlpipe/plan';
import { displayName, quoteLiteral } from '@sqlpipe/sql';

/** What a statement would do to rows, if the engine accepts it. */
export interface Harm {
  readonly command: Command | undefined;
  /** Whether the statement only stores the values that its table already shows. */
  readonly isFill: boolean;
  /** Losses of values, and damage to tables. */
  readonly effects: Effect[];
  /** Why the result of the statement is unknown. */
  doubt?: string;
  /** Why the server rejects the statement, although the engine accepts it. */
  rejection?: RejectionError;
}

export const DEPENDS_ON_EARLIER = 'its result depends on rows that the statements before it would change';
const NOT_ANSWERED = 'its result depends on rows, and the target does not answer a query about them';

export class HarmPredictor {
  readonly #loadedObjects: ReadonlyMap<number | undefined, CatalogueObject>;
  /** The ids of the tables whose values earlier statements change. What the target answers about these values is outdated. */
  readonly #writtenTables = new Set<number | undefined>();
  /** The ids of the tables whose partitions earlier statements convert, detach, attach or drop. */
  readonly #repartitionedTables = new Set<number | undefined>();
  /** With the id of the table. */
  readonly #recordedEffects = new Map<Effect, number | undefined>();
  /** How many values of a column change, as the end of a sentence. */
  readonly #changeTexts = new Map<string, string>();

  constructor(
    private readonly engine: Engine,
    private readonly rows: RowAccount,
    private readonly answers: ServerAnswers,
    private readonly version: string | undefined,
  ) {
    this.#loadedObjects = new Map(engine.catalogue.list().map(object => [object.id, object]));
  }

  /** The effects of the statements so far on tables that still exist. */
  get recordedEffects(): readonly Effect[] {
    return [...this.#recordedEffects].flatMap(([effect, id]) => (this.engine.catalogue.findById(id) ? effect : []));
  }

  /** Asks the target before the engine executes the statement. Conversions that change no value are recorded in the row account. */
  async predictHarm(statement: string): Promise<Harm> {
    const command = parseCommand(statement);
    const fill = parseFill(statement);
    const harm: Harm = { command, isFill: fill !== undefined, effects: [] };
    if (command?.action === 'refresh range' && this.#loadedObjects.has(this.engine.find(command.name)?.id))
      harm.doubt = 'it computes rows of the view again, and the rows that they were computed from may be gone';
    if (command && isPartitionCommand(command)) await this.#addMissingPartitionHarm(command, harm);
    const filled = fill && this.#findTable(fill.table);
    if (filled) await this.#addPartitionHarm(filled, 'fill', harm);
    for (const { name, alteration } of parseAlters(statement)) {
      const table = this.#findTable(name);
      // ADD COLUMN IF NOT EXISTS may do nothing.
      if (!table || (alteration.action === 'add column' && findColumn(table, alteration.column.name))) continue;
      await this.#addPartitionHarm(table, alteration.action, harm);
      const conversion = findConversion(table, alteration);
      if (conversion) await this.#addValueHarm(table, conversion, harm);
    }
    return harm;
  }

  /** Records a statement that the engine has accepted. */
  recordExecution({ effects }: Execution, { command, isFill, effects: harmful }: Harm): void {
    for (const each of harmful) this.#recordedEffects.set(each, this.engine.find(each.object)?.id);
    if (isFill) return;
    for (const { type, object, column, lossKind } of effects) {
      if (column !== undefined || (type !== 'rewritten' && lossKind !== 'drop')) continue;
      const id = this.engine.find(object)?.id;
      if (command && isPartitionCommand(command)) this.#repartitionedTables.add(id);
      if (!command || !isPartitionConversion(command)) this.#writtenTables.add(id);
    }
  }

  /** The effect with the number of values that change, if the target has counted them. */
  withChangeCount(effect: Effect): Effect {
    const changes = effect.lossKind === 'values' ? this.#changeTexts.get(pathKey(effect)) : undefined;
    return changes === undefined ? effect : { ...effect, text: effect.text + changes };
  }

  #findTable(name: string): Table | undefined {
    const table = this.engine.find(name);
    return table?.kind === 'table' && table.opaqueStatement === undefined ? table : undefined;
  }

  /**
   * A table with WAL accepts names of partitions that it lacks, but CONVERT PARTITION suspends it then. Without WAL, the server rejects
   * them (observed on 9.3.4). What DETACH, ATTACH or WHERE would find is not asked.
   */
  async #addMissingPartitionHarm(command: PartitionCommand, harm: Harm): Promise<void> {
    const { action, partitions } = command;
    const isConversion = isPartitionConversion(command);
    const table = this.#findTable(command.name);
    if (!table || action === 'force drop partition' || (table.wal && !(isConversion && partitions))) return;
    const former = this.#loadedObjects.get(table.id);
    const isOutdated = this.#writtenTables.has(table.id) || this.#repartitionedTables.has(table.id);
    const isAskable = !isOutdated && partitions && (action === 'drop partition' || isConversion);
    for (const partition of isAskable ? partitions : [undefined]) {
      const { name = '', begin } = partition ? parsePartitionName(partition.name, table.partitionBy) : {};
      const from = `table_partitions(${quoteLiteral(former?.name ?? '')}) WHERE name = '${name}'`;
      const count = begin === undefined ? undefined : former ? await this.#fetchRowCount(from) : 0;
      if (count) continue;
      const problem = `partition ${name} does not exist, so the server would suspend the table`;
      if (count === 0 && table.wal) harm.effects.push(damageTo(table, problem));
      // The server drops the partitions before the missing one.
      else if (count === 0 && partition && begin && partition === partitions?.[0] && action === 'drop partition')
        harm.rejection = new RejectionError(partition.start, formatMissingPartition(table, begin));
      else harm.doubt = isOutdated ? DEPENDS_ON_EARLIER : 'its result depends on the partitions of the table';
      return;
    }
  }

  /** Whether the target answers that a table or a stored view has no rows; undefined if earlier statements may have changed that. */
  async fetchWhetherEmpty(name: string): Promise<boolean | undefined> {
    const id = this.engine.find(name)?.id;
    const former = this.#loadedObjects.get(id);
    if (this.#writtenTables.has(id)) return undefined;
    return !former || (await this.#fetchRowCount(quoteLiteral(former.name))) === 0;
  }

  /** @param from the text after FROM @returns undefined if the target does not answer */
  #fetchRowCount(from: string): Promise<number | undefined> {
    return this.#fetchAnswer(() => this.answers.askCount(`SELECT count() FROM ${from}`));
  }

  /** @param action an action of ALTER, or `fill` for an UPDATE of `printFill` */
  async #addPartitionHarm(table: Table, action: string, harm: Harm): Promise<void> {
    const former = this.#loadedObjects.get(table.id);
    const isOutdated = this.#repartitionedTables.has(table.id);
    const name = former?.name ?? table.name;
    for (const condition of findPartitionConditions({ ...table, name }, [action], this.version)) {
      const count = isOutdated ? undefined : former ? await this.#fetchCount(condition) : 0;
      if (count === undefined) harm.doubt = isOutdated ? DEPENDS_ON_EARLIER : NOT_ANSWERED;
      if (count) harm.effects.push(toEffect(table, condition, count));
    }
  }

  async #addValueHarm(table: Table, conversion: Conversion, harm: Harm): Promise<void> {
    const { column, from, to } = conversion;
    // For other conversions, the engine predicts a loss. It remains if the target cannot be asked.
    const hasNoLoss = isLossless(from, to);
    const onTarget = this.#translateToTarget(table, conversion);
    if (onTarget === 'no values') return;
    if (onTarget === 'outdated') {
      if (hasNoLoss && findValueConditions(conversion).length > 0) harm.doubt = DEPENDS_ON_EARLIER;
      return;
    }
    const conditions = findValueConditions(onTarget);
    for (const condition of conditions) {
      const count = await this.#fetchCount(condition);
      if (count === undefined && hasNoLoss) harm.doubt = NOT_ANSWERED;
      // The loss that the engine predicts does not happen: all values fit, or the table is suspended.
      if (count !== undefined) this.rows.recordAssertion({ conversion });
      if (count) harm.effects.push(toEffect(table, condition, count, column));
    }
    if (hasNoLoss || conditions.length > 0) return;
    const values = await this.#fetchAnswer(() => this.answers.askChangedValues(onTarget));
    if (values?.changed === 0) this.rows.recordAssertion({ conversion });
    this.#changeTexts.set(pathKey({ object: table.name, column }), formatChangedValues(values));
  }

  /** Gives a conversion the names of the target. It is `outdated` if earlier statements change the values or the type of the column. */
  #translateToTarget({ id, columns }: Table, conversion: Conversion): Conversion | 'no values' | 'outdated' {
    if (this.#writtenTables.has(id)) return 'outdated';
    const former = this.#loadedObjects.get(id);
    const current = columns.find(({ name }) => name === conversion.column);
    const column = former?.columns.find(each => each.id === current?.id);
    if (!former || !column) return 'no values';
    return column.type === conversion.from ? { ...conversion, table: former.name, column: column.name } : 'outdated';
  }

  /** The number of values or partitions that would be harmed; undefined if the target does not answer. sqlserve answers assertions only. */
  async #fetchCount({ statement, questions }: RowCondition): Promise<number | undefined> {
    const answer = await this.#fetchAnswer(() => this.answers.ask(statement));
    const isTrue = typeof answer !== 'string' && answer[0] === true;
    return isTrue ? 0 : this.#fetchAnswer(() => this.answers.askCount(questions[0]));
  }

  async #fetchAnswer<T>(ask: () => T): Promise<T> {
    const answer = ask();
    return (await this.answers.fetchQueuedAnswers()) ? ask() : answer;
  }
}

function formatMissingPartition({ name, columns, timestamp, partitionBy }: Table, begin: string): string {
  const isNano = columns.some(column => column.name === timestamp && column.type === 'TIMESTAMP_NS');
  const time = isNano ? begin.replace('Z', '000Z') : begin;
  return `could not remove partition [table=${name}, partitionTimestamp=${time}, partitionBy=${partitionBy}]`;
}

function toEffect(table: Table, { losesValues, formatProblem }: RowCondition, count: number, column = ''): Effect {
  const problem = formatProblem(count).join('; ');
  if (!losesValues) return damageTo(table, problem);
  return effectOn(table, 'lost', `loses values of column '${column}': ${problem}`, { column, lossKind: 'values' });
}

const damageTo = (table: Table, problem: string): Effect =>
  effectOn(table, 'invalidated', `damages ${displayName(table)}: ${problem}`);
