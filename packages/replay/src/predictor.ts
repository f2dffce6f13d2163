/*!
 * A dry run: the executor sends statements to an engine that has the target's schema, instead of the target. So each
 * statement has the result that the run would have, with the server's message. Loaded when it is needed.
 */
import {
  compareStatements,
  DEFAULTS,
  findReferences,
  parseChange,
  parseFill,
  parseMeaning,
  type StatementComparison,
} from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import {
  DenialError,
  type Effect,
  type Engine,
  type HistoryAnswer,
  OpaqueError,
  RowAccount,
  whenReady,
} from '@sqlpipe/engine';
import { type Instance, type Rejection, type Reply, toRequestText, tryQuery } from '@sqlpipe/instance';
import { AllowedLosses, createEngine, formatLoss } from '@sqlpipe/plan';
import { parseAssertion, plannedLosses, plannedViewNames, printExpiredQuestion } from '@sqlpipe/plan/text';
import { displayName, foldCase, type Identity, identify, isPrincipal, isSameName } from '@sqlpipe/sql';
import { createExecutor, type Executor, type ExecutorOptions, type StatementResult } from './executor.js';
import { type ExistingObjects, isShowable, type KnownObjects } from './existing.js';
import { type AccessSource, ExistingAccess } from './existing-access.js';
import type { Result } from './outcome.js';
import type { HiddenSchema, TargetSchema } from './target.js';

/** What a prediction depends on beside the schema. */
export interface PredictorOptions extends Omit<ExecutorOptions, 'existing' | 'isSimulated' | 'noVerify'> {
  readonly allowLoss: readonly string[];
}

/** A statement whose effect depends on rows, or on a syntax that is not known. */
class UnknownEffectError extends Error {
  override name = 'UnknownEffectError';
}

/** What the result of a statement that an engine accepts is called in a dry run. */
function predictedResult(statement: string, { replaced }: Omit<StatementResult, 'result'>): Result {
  if (replaced) return 'would replace';
  return isShowable(identify(statement)) ? 'would create' : 'would send';
}

/** Why a loss changes the status; undefined if it is allowed. */
function describeForbidden({ kind, loss, object, column, text }: Effect, allowed?: AllowedLosses): string | undefined {
  if (loss === undefined) return undefined;
  const lost = { loss, object, ...(column !== undefined && { column }) };
  if (allowed?.has(lost)) return undefined;
  return `${displayName({ kind, name: object, verb: '' })}: ${text}; --allow-loss ${formatLoss(lost)} allows it`;
}

/** Predicts what statements would do to a target that is not changed, by an engine in its place. */
export class Predictor {
  readonly #target: Instance;
  readonly #schema: TargetSchema;
  /** Why the target does not show its schema, if it does not: then only existing objects are compared. */
  readonly #hidden: string | undefined;
  readonly #engine: Engine;
  readonly #account: RowAccount;
  readonly #invalidBefore: ReadonlyMap<string, string>;
  readonly #caller: string | undefined;
  readonly #allowLoss: readonly string[];
  #allowed: AllowedLosses | undefined;
  readonly #execute: Executor;
  /** The new names of materialized views that a plan drops and creates again. */
  readonly #viewNames = new Map<string, string>();
  /** The effects of the last statement. */
  #effects: readonly Effect[] = [];
  /** The names of the objects that the statements so far have changed, in lower case. */
  readonly #changed = new Set<string>();
  readonly #history = new Map<string, HistoryAnswer>();
  /** How many rows of an object its TTL has expired, by its name. */
  readonly #expired = new Map<string, number | undefined>();

  constructor(
    target: Instance,
    existing: ExistingObjects,
    schema: TargetSchema | HiddenSchema,
    { allowLoss, ...options }: PredictorOptions,
  ) {
    this.#target = target;
    this.#hidden = 'hidden' in schema ? schema.hidden : undefined;
    this.#schema = 'hidden' in schema ? { statements: [], defaults: DEFAULTS } : schema;
    this.#engine = createEngine(this.#schema);
    this.#engine.load(this.#schema.statements);
    this.#invalidBefore = this.#engine.invalidViews();
    this.#account = new RowAccount(this.#engine, {
      historyOf: view => this.#history.get(view) ?? 'kept',
      countExpired: ({ former }) => this.#expired.get(former.name),
      newNameOf: view => this.#viewNames.get(foldCase(view)) ?? view,
    });
    this.#caller = this.#loadAccount();
    this.#allowLoss = allowLoss;
    const objects = this.#hidden === undefined ? this.#objects() : existing;
    const simulation = { existing: objects, isSimulated: true, noVerify: true };
    this.#execute = createExecutor(this.#instance(), { ...options, ...simulation });
  }

  /** The result that the next statement of the run would have. */
  async predict(statement: string): Promise<StatementResult> {
    for (const [from, to] of plannedViewNames(statement)) this.#viewNames.set(from, to);
    this.#allowed ??= new AllowedLosses([...this.#allowLoss, ...plannedLosses(statement)], name => {
      const columns = this.#engine.find(name)?.columns;
      return columns && new Set(columns.map(column => foldCase(column.name)));
    });
    this.#effects = [];
    try {
      const { result, ...rest } = await this.#execute(statement);
      return {
        ...rest,
        result: result === 'applied' ? predictedResult(statement, rest) : result,
        ...(this.#effects.length > 0 && { effects: this.#effects }),
      };
    } catch (error) {
      if (error instanceof UnknownEffectError) return { result: 'unknown', error: error.message };
      throw error;
    }
  }

  /** What the statements so far leave invalid, or lose without a permission: `would leave view 'v' invalid`. */
  findings(): string[] {
    const invalid = [...this.#engine.invalidViews().keys()].filter(name => !this.#invalidBefore.has(name));
    return [
      ...invalid.map(name => `would leave ${this.#engine.title(name)} invalid`),
      ...this.#account.losses().flatMap(({ effect }) => describeForbidden(effect, this.#allowed) ?? []),
    ];
  }

  /** The account that executes the statements, with its rights; undefined for the built-in administrator. */
  #loadAccount(): string | undefined {
    const { account } = this.#schema;
    const { acl } = this.#engine;
    if (!account?.rights?.length || acl.find(account.name)) return account && acl.find(account.name)?.name;
    acl.put({ kind: 'user', name: account.name, tokens: [] });
    for (const right of account.rights) acl.load(right);
    return account.name;
  }

  /** What the executor takes for the target. */
  #instance(): Instance {
    const target = this.#target;
    return {
      label: target.label,
      endpoint: target.endpoint,
      rows: (...query) => target.rows(...query),
      table: query => this.#ask(query),
      execute: statement => this.#simulate(statement),
      bufferNeeded: statement => target.bufferNeeded(statement),
      close: async () => {},
    };
  }

  /** The objects of the engine in the place of those of the target. */
  #objects(): KnownObjects {
    const [engine, { defaults }] = [this.#engine, this.#schema];
    const source: AccessSource = {
      label: this.#target.label,
      principals: async () => engine.statements().filter(statement => isPrincipal(identify(statement).kind)),
      rights: async () => [...engine.acl.rights],
      rightsOf: async () => [],
    };
    const access = new ExistingAccess(source, () => {});
    return {
      access,
      isKnown: async () => false,
      invalidate: () => {},
      defaults: async () => defaults,
      async fetch(identity: Identity) {
        if (isPrincipal(identity.kind)) return access.findPrincipal(identity);
        return engine.find(identity.name)?.kind === identity.kind ? engine.statementOf(identity.name) : undefined;
      },
      compare: async (statement: string, found: string): Promise<StatementComparison> =>
        compareStatements(statement, found, { defaults, findTable: name => engine.statementOf(name) }),
    };
  }

  /** An assertion can be checked as long as nothing that it reads has been changed. */
  #ask(query: string): Promise<unknown[][]> {
    const { copy } = parseAssertion(query) ?? {};
    if (copy) this.#account.enterCopy(copy);
    const names = findReferences(`CREATE VIEW v AS (\n${query.replace(/;\s*$/, '')}\n);`);
    if (names.some(name => this.#changed.has(foldCase(name))))
      throw new UnknownEffectError('its result depends on rows that the statements before it would change');
    return this.#target.table(query);
  }

  async #simulate(statement: string): Promise<Reply> {
    if (this.#hidden !== undefined)
      throw new UnknownEffectError(`the target does not show its schema: ${this.#hidden}`);
    try {
      const sent = toRequestText(statement);
      const execution = await whenReady(() => this.#engine.execute(sent, this.#caller));
      await this.#askHistory(execution.effects);
      for (const { former, now } of this.#account.findEnforced(execution)) {
        const retained = { ...former, partitionBy: now.partitionBy, ttl: now.ttl };
        const question = printExpiredQuestion(retained, former.kind === 'table' ? undefined : former.body);
        const [[count] = []] = (await tryQuery(() => this.#target.table(question))) ?? [];
        this.#expired.set(former.name, count === undefined ? undefined : Number(count));
      }
      this.#effects = this.#account.enter(sent, execution);
      for (const { name } of execution.changes) this.#changed.add(foldCase(name));
      for (const { object } of this.#effects) this.#changed.add(foldCase(object));
      if (/^(?:INSERT|UPDATE|WITH)$/.test(identify(statement).verb) && !parseFill(statement))
        throw new UnknownEffectError('its result depends on rows');
      const failed = this.#failedRefresh(statement);
      return failed === undefined ? { ok: true } : toRejection(failed, { status: 200 });
    } catch (error) {
      if (error instanceof OpaqueError) throw new UnknownEffectError(error.message);
      if (!(error instanceof RejectionError)) throw error;
      const { message, position } = error;
      return toRejection(message.trim(), { status: 400, position, denied: error instanceof DenialError });
    }
  }

  /** Asks the target about the views that a statement drops or computes again. */
  async #askHistory(effects: readonly Effect[]): Promise<void> {
    for (const { effect, kind, loss, object } of effects) {
      const isRebuilt = kind === 'materialized view' && (effect === 'rewritten' || loss === 'drop');
      const statement = this.#schema.statements.find(each => isSameName(identify(each).name, object));
      if (!isRebuilt || this.#history.has(foldCase(object)) || !statement || !this.#schema.askHistory) continue;
      const definition = parseMeaning(statement);
      if (definition?.kind !== 'materialized view') continue;
      // biome-ignore lint/nursery/useAwaitThenable: the function of an option returns a promise
      const { answer } = await this.#schema.askHistory(definition);
      this.#history.set(foldCase(object), answer);
    }
  }

  /** The message of a run in which a refresh fails after it was accepted. */
  #failedRefresh(statement: string): string | undefined {
    const change = parseChange(statement);
    if (change?.verb !== 'refresh' || !change.isFull) return undefined;
    const reason = this.#engine.invalidViews().get(foldCase(change.name));
    return reason === undefined ? undefined : `accepted, but the refresh failed: ${reason}`;
  }
}

/** A rejection whose message holds no secret of a login. */
const toRejection = (message: string, details: { status: number; position?: number; denied?: boolean }): Rejection => ({
  ok: false,
  message,
  says: pattern => pattern.test(message),
  denied: false,
  ...details,
});
