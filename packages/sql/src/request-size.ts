/** The default of a server's `http.request.header.buffer.size`, in bytes. */
export const DEFAULT_REQUEST_BUFFER = 64_448;

/**
 * The minimum `http.request.header.buffer.size` B of a server that accepts a request. With one byte less, the server closes the connection
 * without a reply.
 *
 * `33 + 2Q < B` and `33 + Q + D + H <= B` were measured to the byte on 9.3.4. Q is the length of the encoded query string, D that of the
 * decoded one. 33 is the rest of the request line without a path prefix. H is the header with its empty line; a line end is one byte.
 * @param query the part of the request line after `?`; its escapes are complete
 * @param headers the header lines, without line ends
 */
export function requiredBuffer(requestLine: string, query: string, headers: readonly string[]): number {
  const otherBytes = requestLine.length - query.length;
  let escapes = 0; // counted in a loop, because splitting at them would create as many strings
  for (let i = query.indexOf('%'); i >= 0; i = query.indexOf('%', i + 1)) escapes++;
  const decoded = query.length - 2 * escapes;
  const header = headers.reduce((sum, line) => sum + line.length + 1, 1);
  return Math.max(otherBytes + 2 * query.length + 1, otherBytes + query.length + decoded + header);
}
