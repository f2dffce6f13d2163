/*!
 * The shapes of the service's replies: rows, "OK", a rejection, the empty query. Compact, in the service's key order.
 */

export interface ColumnHead {
  readonly name: string;
  readonly type: string;
}

export type Value = string | number | boolean | null;

/** The result of a statement. */
export type ExecutionResult =
  | { readonly kind: 'ddl' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'rows'; readonly columns: readonly ColumnHead[]; readonly rows: readonly (readonly Value[])[] };

export interface HttpReply {
  readonly status: number;
  readonly type: 'json' | 'text';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with its length, not in chunks. */
  readonly whole?: boolean;
}

/** What the parameters of the request ask for. */
export interface ResponseOptions {
  readonly query: string;
  /** `nm=true`: no metadata. */
  readonly bare: boolean;
  /** `limit=lo,hi`: which rows. */
  readonly limit?: readonly [number, number] | undefined;
  /** `count=true`: the number of all rows, whatever the limit. */
  readonly count: boolean;
  readonly version: number;
  /** `cols=a,b`: which columns. */
  readonly columns?: readonly string[] | undefined;
  readonly timings: boolean;
  readonly explain: boolean;
}

export function formatReply(outcome: ExecutionResult, wishes: ResponseOptions): HttpReply {
  if (outcome.kind === 'ddl') return jsonReply(200, '{"ddl":"OK"}');
  if (outcome.kind === 'empty') {
    const key = wishes.version >= 2 ? 'notice' : 'error';
    return jsonReply(200, `{"${key}":"empty query","query":${quote(wishes.query)},"position":"0"}`);
  }
  const unknown = wishes.columns?.find(name => !outcome.columns.some(column => column.name === name));
  if (unknown !== undefined) {
    return jsonReply(400, `{"query":${quote(wishes.query)},"error":${quote(`column not found: '${unknown}'`)}}`);
  }
  const { columns, rows } = wishes.columns ? pick(outcome, wishes.columns) : outcome;
  const shown = wishes.limit ? rows.slice(...wishes.limit) : rows;
  const heads = columns.map(({ name, type }) => `{"name":${quote(name)},"type":${quote(type)}}`).join();
  const dataset = shown.map(row => `[${row.map((value, i) => formatValue(value, columns[i]?.type)).join()}]`).join();
  const meta = wishes.bare ? '' : `"query":${quote(wishes.query)},"columns":[${heads}],"timestamp":-1,`;
  const count = wishes.count ? rows.length : shown.length;
  return jsonReply(200, `{${meta}"dataset":[${dataset}],"count":${count}${formatExtras(wishes)}}`);
}

type Rows = Extract<ExecutionResult, { kind: 'rows' }>;

function pick({ columns, rows }: Rows, names: readonly string[]): Pick<Rows, 'columns' | 'rows'> {
  const indexes = names.map(name => columns.findIndex(column => column.name === name));
  const of = <T>(values: readonly T[]) => indexes.flatMap(index => values.slice(index, index + 1));
  return { columns: of(columns), rows: rows.map(of) };
}

/** No time is measured, as it would tell nothing of a real server. */
const formatExtras = ({ timings, explain }: ResponseOptions): string =>
  (timings ? ',"timings":{"authentication":0,"compiler":0,"execute":0,"count":0}' : '') +
  (explain ? ',"explain":{"jitCompiled":false}' : '');

/** A rejected statement, or a caller without the right. */
export const rejectionReply = (status: number, query: string, message: string, position: number): HttpReply =>
  jsonReply(status, `{"query":${quote(query)},"error":${quote(message)},"position":${position}}`);

/** A rejection by the endpoint itself. */
export const textReply = (status: number, message: string): HttpReply => ({
  status,
  type: 'text',
  body: `${message}\r\n`,
});

/** A reply without a body. */
export const emptyReply = (status: number, headers = {}): HttpReply => ({
  status,
  type: 'text',
  body: '',
  headers,
  whole: true,
});

export const jsonReply = (status: number, body: string): HttpReply => ({ status, type: 'json', body });

/** A VARCHAR's NUL goes out as it is, which is not JSON: the service does so too (observed on 9.3.4). */
function formatValue(value: Value, type: string | undefined): string {
  return typeof value === 'string' ? quote(value, type === 'VARCHAR' ? '\0' : '\\u0000') : String(value);
}

/** JSON as the service escapes it: no short forms but for newline, return and tab. */
function quote(value: string, nul = '\\u0000'): string {
  const own: Record<string, string> = { '\\b': '\\u0008', '\\f': '\\u000c', '\\u0000': nul };
  return JSON.stringify(value).replace(/\\(?:u....|.)/g, sequence => own[sequence] ?? sequence);
}
