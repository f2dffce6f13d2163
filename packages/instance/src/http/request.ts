import { identify, keywordOf, significantTokens } from '@sqlpipe/sql';

/** The paths that execute statements: the documented one, and the only one before 9.2 (observed on 8.1.4 to 9.1.1). */
export const ENDPOINTS = ['/api/v1/sql/execute', '/exec'] as const;

export type ApiPath = (typeof ENDPOINTS)[number];

/**
 * Encodes a statement in the shortest form that URLs allow and the server reads. Observed on 9.3.4: after a second `=`, the reply is "empty
 * query"; after a `?`, it is a 404. @throws URIError for half of a surrogate pair
 */
export function encodeQuery(text: string): string {
  return encodeURI(text)
    .replace(/[&=?+#]/g, encodeURIComponent)
    .replace(/%20/g, '+');
}

/**
 * Removes the `;` at the end. For a view without parentheses, 9.3.4 would store it in the query. But after START of ALTER MATERIALIZED
 * VIEW, it stays: without it, 9.3.4 fails with a null pointer.
 */
export function toRequestText(statement: string): string {
  const isAlter = identify(statement).verb === 'ALTER';
  const [clause, time, end] = isAlter ? [...significantTokens(statement)].slice(-3) : [];
  const endsInStart = keywordOf(clause) === 'START' && time?.type === 'string' && end?.text === ';';
  return endsInStart ? statement : statement.replace(/;$/, '');
}

/** The server rejects 130 and more queries in one request with `SQL model is too complex` (observed on 9.3.4). */
export const MAX_PER_REQUEST = 100;

/** Batches of objects about which a server can be asked in one request. */
export function* batchesOf<T>(objects: readonly T[], size = MAX_PER_REQUEST): Generator<readonly T[]> {
  for (let start = 0; start < objects.length; start += size) yield objects.slice(start, start + size);
}

/**
 * The rows for a batch of objects, in their order. If `fetch` resolves to undefined, each half is fetched alone.
 * @throws Error if it does so for one object, because a batch of one has no halves
 */
export async function fetchInHalves<T, Row>(
  objects: readonly T[],
  fetch: (objects: readonly T[]) => Promise<Row[] | undefined>,
): Promise<Row[]> {
  const rows = await fetch(objects);
  if (rows) return rows;
  if (objects.length < 2) throw new Error('no rows for one object, and no error either');
  const half = Math.ceil(objects.length / 2);
  const first = await fetchInHalves(objects.slice(0, half), fetch);
  return [...first, ...(await fetchInHalves(objects.slice(half), fetch))];
}
