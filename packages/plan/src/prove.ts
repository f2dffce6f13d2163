/*!
 * Proves a plan by running it on an engine: each statement must be accepted, no loss may happen that is not allowed, and no view
 * may end invalid. Each problem is blamed on the changes that cause it, and these are left out of the next draft.
 */
import type { Effect, Engine } from '@sqlpipe/engine';
import { displayName, foldCase, isObject } from '@sqlpipe/sql';
import { changeKey, type Omission, type Step, whyNotExecutable } from './draft.js';
import type { Loss } from './losses.js';
import { isPartOfRebuild } from './rebuild.js';
import type { Task } from './task.js';

/** What running the steps of a draft has shown. */
export interface Proof {
  /** The effects of each step. */
  readonly effects: readonly (readonly Effect[])[];
  /** The changes that must be left out, with the reasons; empty if the plan is proven. */
  readonly excluded: readonly Omission[];
  /** The materialized views whose rows are computed again, each with the first step that makes this necessary. */
  readonly rebuilt: ReadonlyMap<string, number>;
}

/** Why the plan is not proven, and the steps that cause it. */
interface Problem {
  readonly at: readonly number[];
  readonly reason: string;
  readonly loss?: Loss;
}

/** Runs the steps on an engine that has schema B. */
export function prove(steps: readonly Step[], engine: Engine, task: Task): Proof {
  const invalidBefore = new Set(engine.invalidViews().keys());
  const { effects, rejection } = run(steps, engine);
  const invalidators = findInvalidators(effects);
  /** A view is rebuilt because of the steps that invalidated it; otherwise because of the step itself. */
  const causesOf = (view: string, at: number): readonly number[] => invalidators.get(foldCase(view)) ?? [at];
  const problems = rejection
    ? [rejection]
    : [
        ...findLosses(effects, causesOf, engine, task),
        ...findRemovals(effects, engine, task),
        ...[...engine.invalidViews()]
          .filter(([name]) => !invalidBefore.has(name))
          .map(([name, reason]) => ({
            at: invalidators.get(name) ?? [],
            reason: `invalidates ${engine.title(name)}: ${reason}`,
          })),
      ];
  return { effects, excluded: toOmissions(problems, steps), rebuilt: findRebuilt(effects, causesOf) };
}

function run(steps: readonly Step[], engine: Engine): { effects: (readonly Effect[])[]; rejection?: Problem } {
  const effects: (readonly Effect[])[] = [];
  for (const [at, { statement }] of steps.entries())
    try {
      effects.push(engine.execute(statement).effects);
    } catch (error) {
      return { effects, rejection: { at: [at], reason: whyNotExecutable(error) } };
    }
  return { effects };
}

/** For each view, in lower case, the steps that invalidated it. */
function findInvalidators(effects: readonly (readonly Effect[])[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [at, ofStep] of effects.entries())
    for (const { effect, object } of ofStep)
      if (effect === 'invalidated') found.set(foldCase(object), [...(found.get(foldCase(object)) ?? []), at]);
  return found;
}

/** Whether rows of a materialized view are computed again, or go with it until it is created again. */
const isRebuild = ({ effect, kind, loss }: Effect): boolean =>
  kind === 'materialized view' && (effect === 'rewritten' || (effect === 'lost' && loss === 'drop'));

function findRebuilt(
  effects: readonly (readonly Effect[])[],
  causesOf: (view: string, at: number) => readonly number[],
): Map<string, number> {
  const found = new Map<string, number>();
  for (const [at, ofStep] of effects.entries())
    for (const effect of ofStep.filter(isRebuild)) {
      const key = foldCase(effect.object);
      if (!found.has(key)) found.set(key, Math.min(at, ...causesOf(key, at)));
    }
  return found;
}

/** The losses that are not allowed. Objects that are gone at the end are found by `findRemovals`. */
function findLosses(
  effects: readonly (readonly Effect[])[],
  causesOf: (view: string, at: number) => readonly number[],
  engine: Engine,
  { requests, rows }: Task,
): Problem[] {
  return effects.flatMap((ofStep, at) =>
    ofStep.flatMap(({ effect, loss: kind, kind: of, object, column, text }): Problem[] => {
      // A live view that is created again has lost its rows.
      const isRecreated = of === 'live view' && engine.find(object) !== undefined;
      const isRemoval = kind === 'drop' && column === undefined && !isRecreated;
      if (effect !== 'lost' || kind === undefined || isRemoval) return [];
      if (kind === 'history' && !engine.find(object)) return [];
      const loss = { loss: kind, object, ...(column !== undefined && { column }) };
      if (requests.mayLose(loss)) return [];
      const reason = kind === 'values' ? text + rows.describeLost(object, column) : text;
      return [{ at: kind === 'history' ? causesOf(object, at) : [at], reason, loss }];
    }),
  );
}

/** The objects of B that are gone at the end, and whose loss is not allowed. */
function findRemovals(effects: readonly (readonly Effect[])[], engine: Engine, task: Task): Problem[] {
  const { b, requests } = task;
  return b.entries.flatMap((entry): Problem[] => {
    const names = [entry.name, requests.renames.objects.get(foldCase(entry.name)) ?? entry.name];
    const isThere = names.some(name => engine.find(name)?.kind === entry.kind);
    if (!isObject(entry.kind) || isThere || isPartOfRebuild(entry.name, task)) return [];
    const loss: Loss = { loss: 'drop', object: entry.name };
    if (requests.mayLose(loss)) return [];
    const at = effects.findIndex(ofStep => ofStep.some(each => isRemovalOf(each, entry.name)));
    const rows = entry.kind === 'view' ? '' : ' and its rows';
    return [{ at: [at], reason: `loses ${displayName(entry)}${rows}`, loss }];
  });
}

const isRemovalOf = ({ effect, object, column, loss }: Effect, name: string): boolean =>
  foldCase(object) === foldCase(name) &&
  column === undefined &&
  (effect === 'removed' || (effect === 'lost' && loss === 'drop'));

/** One omission for each change that causes a problem, with all its reasons and all losses that it needs. */
function toOmissions(problems: readonly Problem[], steps: readonly Step[]): Omission[] {
  const found = new Map<string, { step: Step; reasons: Set<string>; losses: Loss[] }>();
  for (const { at, reason, loss } of problems)
    for (const step of at.map(index => steps[index])) {
      if (!step) throw new Error(`the plan is not proven: ${reason}`);
      const key = changeKey(step.change);
      const entry = found.get(key) ?? { step, reasons: new Set(), losses: [] };
      found.set(key, entry);
      entry.reasons.add(reason);
      if (loss) entry.losses.push(loss);
    }
  return [...found.values()].map(({ step, reasons, losses }) => ({
    ...step.change,
    reason: [...reasons].join('; '),
    ...(losses.length > 0 && { losses }),
  }));
}
