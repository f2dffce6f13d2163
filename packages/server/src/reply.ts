/*! The bodies of replies: rows, "OK", a rejection, the empty query. They are compact JSON with QuestDB's order of keys. */
import type { ExecutionResult, Rows, Value } from '@sqlpipe/engine';

export interface HttpReply {
  readonly status: number;
  readonly type: 'json' | 'text';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Send the body with its length, not in chunks. */
  readonly whole?: boolean;
}

export interface ResponseOptions {
  readonly query: string;
  /** `nm=true`: no metadata. */
  readonly bare: boolean;
  /** `limit=lo,hi`: which rows. */
  readonly limit?: readonly [number, number] | undefined;
  /** `count=true`: report the number of all rows, not of those within the limit. */
  readonly count: boolean;
  readonly version: number;
  /** `cols=a,b`: which columns. */
  readonly columns?: readonly string[] | undefined;
  readonly timings: boolean;
  readonly explain: boolean;
}

export function formatReply(outcome: ExecutionResult, options: ResponseOptions): HttpReply {
  if (outcome.kind === 'ddl') return jsonReply(200, '{"ddl":"OK"}');
  if (outcome.kind === 'empty') {
    const key = options.version >= 2 ? 'notice' : 'error';
    return jsonReply(200, `{"${key}":"empty query","query":${quote(options.query)},"position":"0"}`);
  }
  const unknown = options.columns?.find(name => !outcome.columns.some(column => column.name === name));
  if (unknown !== undefined)
    return jsonReply(400, `{"query":${quote(options.query)},"error":${quote(`column not found: '${unknown}'`)}}`);
  const { columns, rows } = options.columns ? selectColumns(outcome, options.columns) : outcome;
  const limitedRows = options.limit ? rows.slice(...options.limit) : rows;
  const timestamp = columns.findIndex(({ name }) => name === outcome.timestamp);
  const heads = columns.map(({ name, type }) => `{"name":${quote(name)},"type":${quote(type)}}`).join();
  const dataset = limitedRows
    .map(row => `[${row.map((value, i) => formatValue(value, columns[i]?.type)).join()}]`)
    .join();
  const meta = options.bare ? '' : `"query":${quote(options.query)},"columns":[${heads}],"timestamp":${timestamp},`;
  const count = options.count ? rows.length : limitedRows.length;
  return jsonReply(200, `{${meta}"dataset":[${dataset}],"count":${count}${formatExtras(options)}}`);
}

function selectColumns({ columns, rows }: Rows, names: readonly string[]): Rows {
  const indexes = names.map(name => columns.findIndex(column => column.name === name));
  const pickValues = <T>(values: readonly T[]) => indexes.flatMap(index => values.slice(index, index + 1));
  return { columns: pickValues(columns), rows: rows.map(pickValues) };
}

/** Times are always 0: measured ones would say nothing about a real server. */
const formatExtras = ({ timings, explain }: ResponseOptions): string =>
  (timings ? ',"timings":{"authentication":0,"compiler":0,"execute":0,"count":0}' : '') +
  (explain ? ',"explain":{"jitCompiled":false}' : '');

/** The reply for a rejected statement, or for a caller without the permission. */
export const rejectionReply = (status: number, query: string, message: string, position: number): HttpReply =>
  jsonReply(status, `{"query":${quote(query)},"error":${quote(message)},"position":${position}}`);

/** The reply for a request that is rejected before its statement is read. */
export const textReply = (status: number, message: string): HttpReply => ({
  status,
  type: 'text',
  body: `${message}\r\n`,
});

export const emptyReply = (status: number, headers = {}): HttpReply => ({
  status,
  type: 'text',
  body: '',
  headers,
  whole: true,
});

export const jsonReply = (status: number, body: string): HttpReply => ({ status, type: 'json', body });

/** The NUL of a VARCHAR is written unescaped, which is invalid JSON: QuestDB does so too (observed on 9.3.4). */
function formatValue(value: Value, type: string | undefined): string {
  return typeof value === 'string' ? quote(value, type === 'VARCHAR' ? '\0' : '\\u0000') : String(value);
}

/** JSON as QuestDB escapes it: newline, carriage return and tab are the only control characters with a short form. */
function quote(value: string, nul = '\\u0000'): string {
  const replacements: Record<string, string> = { '\\b': '\\u0008', '\\f': '\\u000c', '\\u0000': nul };
  return JSON.stringify(value).replace(/\\(?:u....|.)/g, sequence => replacements[sequence] ?? sequence);
}
