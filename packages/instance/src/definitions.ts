/*! Fetches an instance's own definitions of objects, many per request. */
import { MemoryBudget } from '@sqlpipe/schema';
import { displayName, foldCase, kindKeywords, quoteLiteral } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import { isUnsupported, queryIfSupported } from './best-effort-client.js';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { findViews, type ObjectName } from './list-objects.js';
import { reconstructTables } from './reconstruct-tables.js';
import { batchesOf, DEFAULT_REQUEST_BUFFER, fetchInHalves } from './request.js';

/**
 * Maximum length of all definitions in one reply, in UTF-16 code units, because they are collected. More are requested in
 * halves; a single definition is limited only by the maximum length of a row.
 */
const MAX_REPLY_LENGTH = 64 * 1024 * 1024;

/** The server's messages for an object that does not exist, or has another or an unknown kind (observed on 9.3.4). */
const NOT_FOUND = /does not exist|name expected, got|^expected 'TABLE'/;

/**
 * The definition of each object, as the instance prints it, in the order of `objects`; undefined if no object of that
 * name and kind exists.
 * @param objects objects of kinds that have a definition
 * @throws InstanceError if a query fails
 */
export async function fetchDefinitions(
  instance: Instance,
  objects: readonly ObjectName[],
): Promise<(string | undefined)[]> {
  const all: (string | undefined)[] = [];
  for (const batch of batchesOf(objects)) {
    const printed = await fetchUncheckedDefinitions(instance, batch);
    const tables = batch.filter(({ kind }, i) => kind === 'table' && printed[i] !== undefined);
    const names = tables.map(({ name }) => name);
    // For a view, 9.3.4 answers SHOW CREATE TABLE with a CREATE TABLE that has the view's columns.
    const views = names.length ? await findViews(instance, names) : new Set();
    all.push(
      ...batch.map(({ kind, name }, i) => (kind === 'table' && views.has(foldCase(name)) ? undefined : printed[i])),
    );
  }
  return all;
}

/** Called with each object that may not be read, and the server's message; its definition is undefined then. */
type OnDenied = (object: ObjectName, message: string) => void;

/**
 * As `fetchDefinitions`, for objects whose kinds are known to be right: with the kind `table`, a view would get the
 * definition of a table.
 * @param onDenied without it, an object that may not be read is an error
 */
export async function fetchUncheckedDefinitions(
  instance: Instance,
  objects: readonly ObjectName[],
  onDenied?: OnDenied,
): Promise<(string | undefined)[]> {
  const printed = await queryIfSupported(instance, 'SHOW CREATE', async () => {
    const definitions: (string | undefined)[] = [];
    const budget = new MemoryBudget();
    for (const batch of batchesOf(objects))
      for (const row of await fetchInHalves(batch, some => fetchBatch(instance, some, onDenied))) {
        if (row !== undefined) budget.add(row);
        definitions.push(row);
      }
    return definitions;
  });
  return printed ?? reconstructTables(instance, objects);
}

const showCreateQuery = (objects: readonly ObjectName[]): string =>
  objects.map(({ kind, name }) => `SHOW CREATE ${kindKeywords(kind)} ${quoteLiteral(name)}`).join(' UNION ALL ');

/** Queries a batch; undefined if its request or reply is too large, or if one of several objects cannot be shown. */
async function fetchBatch(
  instance: Instance,
  objects: readonly ObjectName[],
  onDenied: OnDenied | undefined,
): Promise<(string | undefined)[] | undefined> {
  const query = showCreateQuery(objects);
  if (objects.length > 1 && instance.bufferNeeded(query) > DEFAULT_REQUEST_BUFFER) return undefined;
  const rows: string[] = [];
  let length = 0;
  try {
    for await (const batch of instance.rows(query))
      for (const row of batch) {
        rows.push(row);
        length += row.length;
        if (rows.length > objects.length) throw wrongCountError(instance, objects.length, 'more');
        if (length > MAX_REPLY_LENGTH && objects.length > 1) return undefined;
      }
  } catch (error) {
    if (!(error instanceof InstanceError) || isUnsupported(error)) throw error;
    const denial = error.code === 'DENIED' && onDenied ? error.serverMessage : undefined;
    if (denial === undefined && !mayConcernOneObject(error)) throw error;
    const [object, ...others] = objects;
    if (!object || others.length) return undefined;
    if (denial !== undefined) onDenied?.(object, denial);
    if (denial !== undefined || error.matches(NOT_FOUND)) return [undefined];
    throw errorForObject(object, error, instance);
  }
  if (rows.length !== objects.length) throw wrongCountError(instance, objects.length, `${rows.length}`);
  return rows;
}

const wrongCountError = ({ label }: Instance, requested: number, received: string): InstanceError =>
  new InstanceError(
    'PROTOCOL',
    `${label}: requested ${requested} definitions and received ${received}; does a proxy change the replies?`,
  );

/**
 * Whether a single object may be the cause of an error: the server rejects showing it, or its definition contains
 * something that no statement may contain, such as a NUL.
 */
const mayConcernOneObject = ({ code, message }: InstanceError): boolean =>
  code === 'REJECTED' || (code === 'PROTOCOL' && / the reply contains /.test(message));

/** The error, with the object that it concerns inserted after the instance's name. */
function errorForObject({ kind, name }: ObjectName, error: InstanceError, { label }: Instance): InstanceError {
  const what = escapeControls(displayName({ kind, name, verb: '' }));
  return error.withMessage(`${label}: ${what}${error.message.slice(label.length)}`);
}
