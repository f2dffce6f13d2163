/*!
 * Predicts the results of a dry run. The executor sends the statements to an engine that has the target's schema. The target itself only
 * answers assertions and the planner's questions about rows. The engine accepts functions that it does not know, so the server may still
 * reject a statement. This module is large, so only a dry run imports it.
 */
import { isDeepStrictEqual } from 'node:util';
import { compareStatements, findReferencesOfQuery, parseFill, SERVER_DEFAULTS } from '@sqlpipe/ddl';
import { catchRejection, RejectionError } from '@sqlpipe/ddl/parser';
import {
  createPredictingEngine,
  DenialError,
  type Effect,
  type Engine,
  type Execution,
  isFullRefresh,
  OpaqueError,
  OTHER_TYPES_REASON,
  RowAccount,
  requirePartialReadAccess,
  whenReady,
} from '@sqlpipe/engine';
import { type Client, InstanceError, type Rejection, type Reply, toRequestText } from '@sqlpipe/instance';
import { createRowQuestions, printQueryOverPlainViews, ServerAnswers } from '@sqlpipe/plan';
import { AllowedLosses, formatAllowance, type PlanHead, parseAssertion } from '@sqlpipe/plan/text';
import { displayName, findSecrets, identify, isPrincipalKind, type KindAndName, NameMap, NameSet } from '@sqlpipe/sql';
import { maskSecrets } from '@sqlpipe/text';
import { createExecutor, type ExecutionContext, type Executor } from '../execute/executor.js';
import { type AclSource, ExistingAcl } from '../target/existing-acl.js';
import { type ExistingObjects, isShowable } from '../target/fetched-objects.js';
import type { TargetSchema } from '../target/target.js';
import { DEPENDS_ON_EARLIER, HarmPredictor } from './harm-predictor.js';

/** The context of a real run. `DryRun` replaces its `client` by one that executes statements on the engine. */
interface DryRunContext extends Omit<ExecutionContext, 'isSimulated' | 'noVerify'> {
  readonly allowLoss: readonly string[];
  readonly planHead: PlanHead | undefined;
}

/** A result cannot be predicted, for example because it depends on rows. It is `unknown`, which does not change the exit status. */
class UnknownEffectError extends Error {
  override name = 'UnknownEffectError';
}

export class DryRun {
  readonly #schema: Partial<TargetSchema> & Pick<TargetSchema, 'statements' | 'defaults'>;
  /** Why the target does not show its schema. Then the dry run only compares statements with the target's objects. */
  readonly #hiddenReason: string | undefined;
  readonly #engine: Engine;
  readonly #rows: RowAccount;
  readonly #invalidBefore: NameMap<string>;
  /** The account of this run. If it is undefined, statements run as the built-in administrator, so no missing permission is predicted. */
  readonly #caller: string | undefined;
  readonly #allowed: AllowedLosses;
  readonly #existing: ExistingObjects;
  /** The effects of the statement that was executed last. */
  #effects: readonly Effect[] = [];
  #effectsOfRestart: readonly Effect[] = [];
  readonly #affectedNames = new NameSet();
  readonly #answers: ServerAnswers;
  readonly #predictor: HarmPredictor;
  readonly #questions: ReturnType<typeof createRowQuestions>;
  /** The queries of the views that were refreshed last over other plain views than the target has. */
  readonly #refreshedQueries = new NameMap<string | undefined>();

  constructor(
    schema: TargetSchema | { readonly hiddenReason: string },
    private readonly context: DryRunContext,
  ) {
    this.#hiddenReason = 'hiddenReason' in schema ? schema.hiddenReason : undefined;
    this.#schema = 'hiddenReason' in schema ? { statements: [], defaults: SERVER_DEFAULTS } : schema;
    this.#answers = new ServerAnswers(this.#schema);
    this.#engine = createPredictingEngine(this.#schema);
    this.#engine.load(this.#schema.statements);
    this.#invalidBefore = this.#engine.invalidViews();
    this.#questions = createRowQuestions(this.#answers, this.#engine);
    this.#rows = new RowAccount(this.#engine, {
      findStoredRows: view =>
        this.#answers.findHistory(view, this.#refreshedQueries.get(view))?.answer ?? 'recomputable',
      ...this.#questions,
      newNameOf: view => context.planHead?.renamedViews.get(view) ?? view,
    });
    this.#predictor = new HarmPredictor(this.#engine, this.#rows, this.#answers, this.#schema.version);
    this.#allowed = new AllowedLosses([...context.allowLoss, ...(context.planHead?.neededAllowances ?? [])], name => {
      const columns = this.#engine.find(name)?.columns;
      return columns && new NameSet(columns.map(column => column.name));
    });
    this.#caller = this.#loadCaller();
    this.#existing = this.#hiddenReason === undefined ? this.#createExistingObjects() : context.existing;
  }

  readonly predictResult: Executor = async (entry, ...position) => {
    this.#effects = [];
    const { client } = this.context;
    const simulatedClient: Client = {
      label: client.label,
      endpoint: client.endpoint,
      streamFirstColumn: (...query) => client.streamFirstColumn(...query),
      queryRows: query => this.#queryAssertion(query),
      execute: statement => this.#simulate(statement),
      requiredBuffer: (...request) => client.requiredBuffer(...request),
      close: async () => {},
    };
    const replaced = { client: simulatedClient, existing: this.#existing, isSimulated: true, noVerify: true };
    try {
      const simulated = await createExecutor({ ...this.context, ...replaced })(entry, ...position);
      const details = { ...simulated, ...(this.#effects.length > 0 && { effects: this.#effects }) };
      if (simulated.result !== 'applied') return details;
      if (simulated.replaced) return { ...details, result: 'would replace' };
      return { ...details, result: isShowable(entry) ? 'would create' : 'would send' };
    } catch (error) {
      if (error instanceof UnknownEffectError) return { result: 'unknown', error: error.message };
      throw error;
    }
  };

  formatHarm(): string[] {
    const invalid = [...this.#engine.invalidViews().keys()].filter(name => !this.#invalidBefore.has(name));
    const { recordedEffects } = this.#predictor;
    const damage = recordedEffects.filter(({ type }) => type === 'invalidated');
    const losses = [
      ...this.#rows.losses().map(({ effect }) => this.#predictor.withChangeCount(effect)),
      ...recordedEffects,
      ...this.#effectsOfRestart,
    ];
    const invalidLater = this.#effectsOfRestart.filter(({ type }) => type === 'invalidated');
    return [
      ...invalid.map(name => `would leave ${this.#engine.displayNameOf(name)} invalid`),
      ...invalidLater.map(
        ({ object }) => `would leave ${this.#engine.displayNameOf(object)} invalid after a restart of the server`,
      ),
      ...new Set(damage.map(({ text }) => text.replace('damages', 'would damage'))),
      ...losses.flatMap(({ kind, lossKind, object, column, text }) => {
        const loss = lossKind && { lossKind, object, column };
        if (!loss || this.#allowed.allows(loss)) return [];
        return `${displayName({ kind, name: object })}: ${text}; ${formatAllowance(loss)} allows it`;
      }),
    ];
  }

  /** Adds the account of this run and its rights to the engine. @returns its name; undefined if the target shows nothing of the account */
  #loadCaller(): string | undefined {
    const { account } = this.#schema;
    const { acl } = this.#engine;
    const listed = account && acl.find(account.name);
    if (!account?.rights?.length || listed) return listed?.name;
    acl.apply({ put: { kind: 'user', name: account.name, tokens: [] } });
    for (const right of account.rights) acl.loadRight(right);
    return account.name;
  }

  /** Statements are compared with the objects of the engine, not with those of the target. */
  #createExistingObjects(): ExistingObjects {
    const [engine, { defaults }] = [this.#engine, this.#schema];
    const source: AclSource = {
      label: this.context.client.label,
      fetchPrincipals: async () => engine.statements().filter(statement => isPrincipalKind(identify(statement).kind)),
      fetchRights: async () => [...engine.acl.rights],
      fetchRightsOf: async () => [],
    };
    const acl = new ExistingAcl(source, () => {});
    return {
      acl,
      fetchWhetherTaken: async ({ name }) => engine.find(name) !== undefined,
      findPrefetched: async () => undefined, // so that each statement reaches the engine
      invalidate: () => {},
      fetchDefaults: async () => defaults,
      fetchStatement: async each => (isPrincipalKind(each.kind) ? acl.fetchPrincipal(each) : this.#showObject(each)),
      compareStatements: async (statement, found) => {
        const findTable = (name: string) => this.#showObject({ kind: 'table', name });
        return compareStatements(statement, found, { defaults, findTable });
      },
    };
  }

  /** @throws InstanceError if the account may not read the object, even if it is of another kind */
  #showObject({ kind, name }: KindAndName): string | undefined {
    const object = this.#engine.find(name);
    if (!object) return undefined;
    const session = this.#engine.session(this.#caller ?? this.#engine.acl.admin);
    const denial = catchRejection(() => requirePartialReadAccess(session, object.name));
    if (denial instanceof RejectionError)
      throw new InstanceError('DENIED', `${this.context.client.label}: ${denial.message}`, {
        serverMessage: denial.message,
      });
    return object.kind === kind ? this.#engine.statementOf(name) : undefined;
  }

  /**
   * Asks the target. `#rows` records the assertion as true before the answer is known, because a false answer ends the run anyway.
   * @throws UnknownEffectError if the assertion reads an object that an earlier statement would change, or is about one that the target
   *   lacks under this name; InstanceError
   */
  #queryAssertion(query: string): Promise<unknown[][]> {
    const assertion = parseAssertion(query);
    this.#rows.recordAssertion(assertion ?? {});
    const isOther = (name: string) => this.#engine.find(name)?.id !== this.#rows.findLoaded(name)?.id;
    const names = findReferencesOfQuery(query.replace(/;\s*$/, ''));
    if (names.some(name => this.#affectedNames.has(name)) || assertion?.tables.some(isOther))
      throw new UnknownEffectError(DEPENDS_ON_EARLIER);
    return this.context.client.queryRows(query);
  }

  /** Executes a statement on the engine. A refresh that would be accepted and then fail is a rejection. @throws UnknownEffectError */
  async #simulate(statement: string): Promise<Reply> {
    if (this.#hiddenReason !== undefined)
      throw new UnknownEffectError(`the target does not show its schema: ${this.#hiddenReason}`);
    try {
      const sent = toRequestText(statement);
      const harm = await this.#predictor.predictHarm(sent);
      const execution = await whenReady(() => {
        const execute = () => this.#engine.execute(sent, this.#caller);
        const rejection = this.#schema.isReadOnly ? new DenialError(0, 'Write permission denied') : harm.rejection;
        if (!rejection) return execute();
        this.#engine.tryOut(execute); // its rejection comes first, because a server looks for rows and partitions last
        throw rejection;
      });
      await this.#fetchRowAnswers(execution);
      const effects = this.#rows.recordStatement(sent, execution).map(each => this.#predictor.withChangeCount(each));
      effects.push(...harm.effects);
      this.#predictor.recordExecution(execution, harm);
      for (const { name } of execution.transitions) this.#affectedNames.add(name);
      for (const { object } of effects) this.#affectedNames.add(object);
      const known = this.#effectsOfRestart;
      this.#effectsOfRestart = this.#engine.effectsOfRestart();
      effects.push(...this.#effectsOfRestart.filter(each => !known.some(other => isDeepStrictEqual(other, each))));
      // The engine has checked the statement, but it has no rows. Only an UPDATE that fills a column has the same effect with any rows.
      if (/^(?:INSERT|UPDATE|WITH)$/.test(identify(statement).verb) && !parseFill(statement))
        throw new UnknownEffectError('its result depends on rows');
      if (harm.doubt !== undefined) throw new UnknownEffectError(harm.doubt);
      const reason = await this.#fetchRefreshFailure(effects);
      this.#effects = effects;
      return reason === undefined ? { ok: true } : createRejection(200, `accepted, but the refresh failed: ${reason}`);
    } catch (error) {
      if (error instanceof OpaqueError) throw new UnknownEffectError(error.message);
      if (!(error instanceof RejectionError)) throw error;
      const rejection = createRejection(400, error.message.trim());
      const message = maskSecrets(rejection.message, findSecrets(statement));
      const { position } = error;
      return { ...rejection, message, position, isDenied: error instanceof DenialError };
    }
  }

  /** Fetches the reason why a full refresh would fail although the server accepts it. @throws UnknownEffectError */
  async #fetchRefreshFailure(effects: readonly Effect[]): Promise<string | undefined> {
    const refresh = effects.find(isFullRefresh);
    const reason = refresh && this.#engine.invalidViews().get(refresh.object);
    const view = refresh && this.#engine.find(refresh.object);
    if (reason !== OTHER_TYPES_REASON || view?.kind !== 'materialized view') return reason;
    // A refresh gives columns of other types without an error as long as its base has no rows (observed on 9.3.4).
    const isEmpty = await this.#predictor.fetchWhetherEmpty(view.base);
    if (isEmpty === undefined) throw new UnknownEffectError(DEPENDS_ON_EARLIER);
    return isEmpty ? undefined : reason;
  }

  /** Asks the target how many rows a statement would lose: when views are computed or dropped, by retention, and in an unended period. */
  async #fetchRowAnswers(execution: Execution): Promise<void> {
    for (const effect of execution.effects) {
      const { kind, lossKind, object } = effect;
      const mayLoseHistory = isFullRefresh(effect) || (kind === 'materialized view' && lossKind === 'drop');
      const view = mayLoseHistory ? this.#rows.findLoaded(object) : undefined;
      if (view?.kind !== 'materialized view' || view.opaqueStatement !== undefined) continue;
      // Whoever made a plan wants what its views return, so only their former queries count.
      const query = this.context.planHead
        ? undefined
        : printQueryOverPlainViews(view, this.#engine, name => this.#rows.findLoaded(name));
      this.#refreshedQueries.set(view.name, query);
      this.#answers.queueHistory(object, () => (query === undefined ? view : { ...view, body: query }), query);
    }
    for (const enforcement of this.#rows.findRetentionEnforcements(execution)) this.#questions.askExpired(enforcement);
    for (const view of this.#rows.findComputedViews(execution))
      if (view.current.refresh.period) this.#questions.askUnended(view);
    await this.#answers.fetchQueuedAnswers();
  }
}

const createRejection = (status: number, message: string): Rejection => {
  const matches = (pattern: RegExp) => pattern.test(message);
  return { ok: false, message, matches, status, isDenied: false };
};
