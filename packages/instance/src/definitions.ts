/*! What an instance holds: its own definitions of objects, many to a request. */
import { MemoryBudget } from '@sqlpipe/schema';
import { displayName, escapeControls, foldCase, kindKeywords, quoteLiteral } from '@sqlpipe/sql';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { findViews, type ObjectName } from './objects.js';
import { reconstructTables } from './reconstruct-tables.js';
import { DEFAULT_REQUEST_BUFFER } from './request.js';
import { isUnsupported, queryIfSupported } from './unsupported.js';

/** More SHOW CREATE in one request are rejected with `SQL model is too complex`, from 130 on (observed on 9.3.4). */
const MAX_PER_REQUEST = 100;

/** Definitions that are longer together, in UTF-16 code units, are not taken in one reply; one alone may be as long as a row. */
const MAX_REPLY_LENGTH = 64 * 1024 * 1024;

/** Its words for an object that is not there, not of this kind, or of a kind it does not know (observed on 9.3.4). */
const NOT_FOUND = /does not exist|name expected, got|^expected 'TABLE'/;

/**
 * The instance's own definition of each object, as it prints them, in the order of `objects`; undefined for one that
 * does not exist as this kind.
 * @param objects of kinds that have a definition
 * @throws InstanceError where there is no answer
 */
export async function fetchDefinitions(
  instance: Instance,
  objects: readonly ObjectName[],
): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  while (found.length < objects.length)
    found.push(...(await fetchOfRightKind(instance, objects.slice(found.length, found.length + MAX_PER_REQUEST))));
  return found;
}

/** 9.3.4 answers SHOW CREATE TABLE for a view too, with a table of its columns: what passes for a table is looked up. */
async function fetchOfRightKind(instance: Instance, objects: readonly ObjectName[]): Promise<(string | undefined)[]> {
  const printed = await fetchUncheckedDefinitions(instance, objects);
  const tables = objects.filter(({ kind }, i) => kind === 'table' && printed[i] !== undefined);
  if (!tables.length) return printed;
  const views = await findViews(
    instance,
    tables.map(({ name }) => name),
  );
  return objects.map(({ kind, name }, i) => (kind === 'table' && views.has(foldCase(name)) ? undefined : printed[i]));
}

/**
 * As `fetchDefinitions`, for kinds that are known to be right: an object of another kind must not be queried as a
 * table.
 */
export async function fetchUncheckedDefinitions(
  instance: Instance,
  objects: readonly ObjectName[],
): Promise<(string | undefined)[]> {
  const printed = await queryIfSupported(instance, 'SHOW CREATE', () => fetchWithShowCreate(instance, objects));
  return printed ?? reconstructAll(instance, objects);
}

/** Where there is no SHOW CREATE there are only tables. */
async function reconstructAll(instance: Instance, objects: readonly ObjectName[]): Promise<(string | undefined)[]> {
  const tables = objects.filter(({ kind }) => kind === 'table').map(({ name }) => name);
  const built = await reconstructTables(instance, tables);
  return objects.map(({ kind }) => (kind === 'table' ? built.shift() : undefined));
}

async function fetchWithShowCreate(
  instance: Instance,
  objects: readonly ObjectName[],
): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  const budget = new MemoryBudget();
  while (found.length < objects.length) {
    const batch = limitToBuffer(instance, objects.slice(found.length, found.length + MAX_PER_REQUEST));
    for (const row of await fetchBatch(instance, batch)) {
      if (row !== undefined) budget.add(row);
      found.push(row);
    }
  }
  return found;
}

/** As many as go into one request; one at least. */
function limitToBuffer(instance: Instance, objects: readonly ObjectName[]): readonly ObjectName[] {
  let batch = objects;
  while (batch.length > 1 && instance.bufferNeeded(showCreateQuery(batch)) > DEFAULT_REQUEST_BUFFER)
    batch = batch.slice(0, Math.ceil(batch.length / 2));
  return batch;
}

const showCreateQuery = (objects: readonly ObjectName[]): string =>
  objects.map(({ kind, name }) => `SHOW CREATE ${kindKeywords(kind)} ${quoteLiteral(name)}`).join(' UNION ALL ');

/** One object that does not exist, or can't be shown, fails the batch; then each half is queried by itself. */
async function fetchBatch(instance: Instance, objects: readonly ObjectName[]): Promise<(string | undefined)[]> {
  const rows: string[] = [];
  let length = 0;
  try {
    for await (const batch of instance.rows(showCreateQuery(objects)))
      for (const row of batch) {
        rows.push(row);
        length += row.length;
        if (rows.length > objects.length) throw wrongCountError(instance, objects.length, 'more');
        if (length > MAX_REPLY_LENGTH && objects.length > 1) return fetchHalves(instance, objects);
      }
  } catch (error) {
    if (!(error instanceof InstanceError) || !mayConcernOneObject(error) || isUnsupported(error)) throw error;
    const [object] = objects;
    if (objects.length === 1 && object) {
      if (NOT_FOUND.test(error.serverMessage ?? '')) return [undefined];
      throw errorForObject(object, error, instance);
    }
    return fetchHalves(instance, objects);
  }
  if (rows.length !== objects.length) throw wrongCountError(instance, objects.length, `${rows.length}`);
  return rows;
}

async function fetchHalves(instance: Instance, objects: readonly ObjectName[]): Promise<(string | undefined)[]> {
  const half = Math.ceil(objects.length / 2);
  return [
    ...(await fetchBatch(instance, objects.slice(0, half))),
    ...(await fetchBatch(instance, objects.slice(half))),
  ];
}

const wrongCountError = ({ label }: Instance, asked: number, got: string): InstanceError =>
  new InstanceError(
    'PROTOCOL',
    `${label}: requested ${asked} definitions and received ${got}; does a proxy change the replies?`,
  );

/**
 * Whether one object may be the cause: the server refuses to show it, or shows what no reply can contain, such as a
 * NUL.
 */
const mayConcernOneObject = ({ code, message }: InstanceError): boolean =>
  code === 'REFUSED' || (code === 'PROTOCOL' && / the reply contains /.test(message));

/** The error with the object that it concerns, after the instance's name. */
function errorForObject({ kind, name }: ObjectName, error: InstanceError, { label }: Instance): InstanceError {
  const what = escapeControls(displayName({ kind, name, verb: '' }));
  return new InstanceError(error.code, `${label}: ${what}${error.message.slice(label.length)}`, {
    ...error,
    cause: error,
  });
}
