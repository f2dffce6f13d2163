/*!
 * Views over views that a plan makes read from other objects. A server keeps with each view all that it reads, through other views
 * too. Where one of those reads from something else, each query of a view over it fails with a NullPointerException, although
 * `views()` calls it valid, until its query is stated again (observed on 9.3.4; COMPILE VIEW is not enough).
 */
import { dumpOrder, type Entry, Schema } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import { changedObjects } from './changed-objects.js';
import type { Draft } from './draft.js';
import type { Task } from './task.js';

/** States the queries of such views again, each after the views that it reads from. */
export function restateViews({ b }: Task, draft: Draft): void {
  const schema = new Schema(draft.engine.statements());
  for (const view of dumpOrder(schema)) {
    const definition = draft.definitionOf(view.name);
    if (definition?.kind !== 'view') continue;
    const stated = lastStepAbout(view, draft);
    const isBeforeSource = schema.prerequisites(view).some(each => lastStepAbout(each, draft) > stated);
    const known = stated < 0 ? sourcesOf(b.findObject(view.name), b) : new Set();
    const readsOthers = [...sourcesOf(view, schema)].some(name => !known.has(name));
    if (isBeforeSource && readsOthers) draft.alter('view', view.name, { change: 'query', body: definition.body }, []);
  }
}

/** The last step that creates or alters a view; -1 if there is none, or it is no view. */
const lastStepAbout = ({ kind, name }: Entry, { steps }: Draft): number =>
  kind !== 'view'
    ? -1
    : steps.findLastIndex(({ statement }) =>
        changedObjects(statement).some(each => each.kind === kind && foldCase(each.name) === foldCase(name)),
      );

/** The names in lower case of what a view reads, directly or through other views. */
function sourcesOf(view: Entry | undefined, schema: Schema, found = new Set<string>()): Set<string> {
  for (const source of view ? schema.prerequisites(view) : []) {
    if (found.has(foldCase(source.name))) continue;
    found.add(foldCase(source.name));
    if (source.kind === 'view') sourcesOf(source, schema, found);
  }
  return found;
}
