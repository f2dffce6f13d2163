import type { BestEffortClient } from './best-effort-client.js';

/** The catalogue functions that list objects which can be invalid (observed on 9.3.4). */
const VIEW_LISTS = ['views()', 'materialized_views()'];

/** The views and materialized views that the instance reports as invalid, each with its reason. */
export async function fetchInvalidViews(client: BestEffortClient): Promise<Map<string, string>> {
  const invalid = new Map<string, string>();
  for (const list of VIEW_LISTS) {
    const rows = await client.table(`SELECT view_name, invalidation_reason FROM ${list} WHERE view_status = 'invalid'`);
    for (const [name, reason] of rows ?? []) invalid.set(String(name), String(reason ?? 'no reason given'));
  }
  return invalid;
}
