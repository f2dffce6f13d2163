/*! The one request there is, as the bytes of its target: how a statement is written into it, and how large that gets. */

/** Where statements are executed: by its documented path, and by the only one that versions before 9.2 have (observed on 8.1.4 to 9.1.1). */
export const ENDPOINTS = ['/api/v1/sql/execute', '/exec'] as const;

export type Endpoint = (typeof ENDPOINTS)[number];

/**
 * A statement as a query parameter's value, as short as the server reads it correctly and the URL rules allow.
 *
 * A blank is `+`. Letters, digits and `-._~!$'()*,;:@/` stand as they are. `& = ? % +` (observed on 9.3.4: a second
 * `=` makes the answer "empty query", a `?` makes it 404), controls, what is not ASCII and what is not legal in a
 * URL's query are `%XX` of their UTF-8 bytes. Throws URIError for half of a surrogate pair.
 */
export function encodeQuery(text: string): string {
  return encodeURI(text)
    .replace(/[&=?+#]/g, encodeURIComponent)
    .replace(/%20/g, '+');
}

/** The request target for a statement. `path` is that of the instance's URL, without a slash at its end, and an endpoint. */
export function requestTarget(path: string, statement: string, parameters = ''): string {
  return `${path}?query=${encodeQuery(statement)}${parameters}`;
}

/** The `http.request.header.buffer.size` of a server whose configuration does not say another. */
export const DEFAULT_REQUEST_BUFFER = 64448;

/**
 * The smallest `http.request.header.buffer.size` (bytes) of a server that accepts a request; one byte less and it
 * closes the connection without an answer.
 *
 * The server keeps the query string twice, as it came (Q bytes) and decoded (D), beside the request line's other bytes
 * (33 without a prefix) and the header (H: a line end counts as one byte, and the empty line is one of them). `33 + 2Q
 * < B` and `33 + Q + D + H <= B` hold to the byte on 9.3.4.
 *
 * @param target as `requestTarget` makes it
 * @param headers lines of the header, without line ends
 */
export function bufferNeeded(target: string, headers: readonly string[]): number {
  const query = target.slice(target.indexOf('?') + 1);
  const around = `GET ${target} HTTP/1.1`.length - query.length;
  let escapes = 0; // counted one by one: to split there makes as many strings
  for (let at = query.indexOf('%'); at >= 0; at = query.indexOf('%', at + 1)) escapes++;
  const decoded = query.length - 2 * escapes;
  const header = headers.reduce((sum, line) => sum + line.length + 1, 1);
  return Math.max(around + 2 * query.length + 1, around + query.length + decoded + header);
}
