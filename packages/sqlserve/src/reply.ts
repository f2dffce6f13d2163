/*! The shapes of the service's replies: rows, "OK", a refusal, the empty query. Compact, in the service's key order. */

export interface ColumnHead {
  readonly name: string;
  readonly type: string;
}

export type Value = string | number | boolean | null;

/** What a statement came to. */
export type Outcome =
  | { readonly kind: 'ddl' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'rows'; readonly columns: readonly ColumnHead[]; readonly rows: readonly (readonly Value[])[] };

export interface Reply {
  readonly status: number;
  readonly type: 'json' | 'text';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with its length, not in chunks. */
  readonly whole?: boolean;
}

/** What the parameters of the request ask for. */
export interface Wishes {
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

export function replyTo(outcome: Outcome, wishes: Wishes): Reply {
  if (outcome.kind === 'ddl') return json(200, '{"ddl":"OK"}');
  if (outcome.kind === 'empty') {
    const key = wishes.version >= 2 ? 'notice' : 'error';
    return json(200, `{"${key}":"empty query","query":${quote(wishes.query)},"position":"0"}`);
  }
  const unknown = wishes.columns?.find(name => !outcome.columns.some(column => column.name === name));
  if (unknown !== undefined) {
    return json(400, `{"query":${quote(wishes.query)},"error":${quote(`column not found: '${unknown}'`)}}`);
  }
  const { columns, rows } = wishes.columns ? pick(outcome, wishes.columns) : outcome;
  const shown = wishes.limit ? rows.slice(...wishes.limit) : rows;
  const heads = columns.map(({ name, type }) => `{"name":${quote(name)},"type":${quote(type)}}`).join();
  const dataset = shown.map(row => `[${row.map((value, i) => valueText(value, columns[i]?.type)).join()}]`).join();
  const meta = wishes.bare ? '' : `"query":${quote(wishes.query)},"columns":[${heads}],"timestamp":-1,`;
  const count = wishes.count ? rows.length : shown.length;
  return json(200, `{${meta}"dataset":[${dataset}],"count":${count}${extras(wishes)}}`);
}

type Rows = Extract<Outcome, { kind: 'rows' }>;

function pick({ columns, rows }: Rows, names: readonly string[]): Pick<Rows, 'columns' | 'rows'> {
  const indexes = names.map(name => columns.findIndex(column => column.name === name));
  const of = <T>(values: readonly T[]) => indexes.flatMap(index => values.slice(index, index + 1));
  return { columns: of(columns), rows: rows.map(of) };
}

/** No time is measured, as it would tell nothing of a real server. */
const extras = ({ timings, explain }: Wishes): string =>
  (timings ? ',"timings":{"authentication":0,"compiler":0,"execute":0,"count":0}' : '') +
  (explain ? ',"explain":{"jitCompiled":false}' : '');

/** A statement refused, or a caller who may not. */
export const refusalReply = (status: number, query: string, message: string, position: number): Reply =>
  json(status, `{"query":${quote(query)},"error":${quote(message)},"position":${position}}`);

/** A refusal by the endpoint itself. */
export const text = (status: number, message: string): Reply => ({ status, type: 'text', body: `${message}\r\n` });

/** A reply without a body. */
export const bare = (status: number, headers = {}): Reply => ({ status, type: 'text', body: '', headers, whole: true });

export const json = (status: number, body: string): Reply => ({ status, type: 'json', body });

/** A VARCHAR's NUL goes out as it is, which is not JSON: the service does so too (observed on 9.3.4). */
function valueText(value: Value, type: string | undefined): string {
  return typeof value === 'string' ? quote(value, type === 'VARCHAR' ? '\0' : '\\u0000') : String(value);
}

/** JSON as the service escapes it: no short forms but for newline, return and tab. */
function quote(value: string, nul = '\\u0000'): string {
  const own: Record<string, string> = { '\\b': '\\u0008', '\\f': '\\u000c', '\\u0000': nul };
  return JSON.stringify(value).replace(/\\(?:u....|.)/g, sequence => own[sequence] ?? sequence);
}
