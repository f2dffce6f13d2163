import { quoteLiteral } from '@sqlpipe/sql';
import { markOf, parseMark } from '../auxiliary/marks.js';
import { emptyAssertion } from '../queries/assertions.js';
import { printDrop, printOnOneLine } from '../statements/statement-text.js';
import { changeOf, type Draft } from './draft.js';

/** Marks the deferred views that the plan creates and refreshes. Removes the marks of views that are filled, or that the plan drops. */
export function reconcileMarks(draft: Draft): void {
  const { a, engineOfB, ignoreExtra } = draft.context;
  const { engine } = draft;
  for (const view of engine.catalogue.list()) {
    const isFilled = view.kind === 'materialized view' && view.refresh.deferred && !view.neverRefreshed;
    if (!isFilled || engineOfB.catalogue.findById(view.id)) continue;
    const mark = markOf(view.name);
    if (engine.find(mark)) continue;
    draft.addBeforeChanges(`CREATE TABLE ${quoteLiteral(mark)} (ts TIMESTAMP);`, { kind: 'table', name: mark });
  }
  for (const { name } of engine.catalogue.list()) {
    const view = parseMark(name, draft.context);
    if (view === undefined || a.findObject(name)) continue;
    const isFilled = engine.find(view) !== undefined && !engine.wasNeverRefreshed(view);
    const drop = printDrop({ kind: 'table', name });
    const change = changeOf({ kind: 'table', name }, printOnOneLine(drop));
    if (a.findObject(view) ? isFilled : !ignoreExtra) draft.add(change, [emptyAssertion(name), drop]);
  }
}
