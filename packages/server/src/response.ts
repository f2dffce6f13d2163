/*! Responses, whose bodies are compact JSON with QuestDB's order of keys. */
import type { Cell, StatementReply } from '@sqlpipe/engine';
import type { HttpRequest } from './request.js';

export interface HttpResponse {
  readonly status: number;
  readonly type: 'json' | 'text';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isUnchunked?: boolean;
}

/** `limit=lo,hi` selects rows; `nm=true` omits the metadata, and `count=true` counts the rows beyond the limit too. */
export function replyResponse(
  reply: StatementReply,
  query: string,
  parameters: HttpRequest['parameters'],
): HttpResponse {
  if (reply.kind === 'ddl') return jsonResponse(200, '{"ddl":"OK"}');
  if (reply.kind === 'empty') {
    const key = Number(parameters.get('version')) >= 2 ? 'notice' : 'error';
    return jsonResponse(200, `{"${key}":"empty query","query":${quote(query)},"position":"0"}`);
  }
  const { columns, rows } = reply;
  const limit = parseLimit(parameters.get('limit'));
  const limitedRows = limit ? rows.slice(...limit) : rows;
  const timestamp = columns.findIndex(({ name }) => name === reply.timestamp);
  const heads = columns.map(({ name, type }) => `{"name":${quote(name)},"type":${quote(type)}}`).join();
  const dataset = limitedRows
    .map(row => `[${row.map((value, i) => formatValue(value, columns[i]?.type)).join()}]`)
    .join();
  const isSet = (name: string) => parameters.get(name) === 'true';
  const meta = isSet('nm') ? '' : `"query":${quote(query)},"columns":[${heads}],"timestamp":${timestamp},`;
  const count = isSet('count') ? rows.length : limitedRows.length;
  return jsonResponse(200, `{${meta}"dataset":[${dataset}],"count":${count}}`);
}

/** `n` or `lo,hi`, 1-based; `0` and less give one row (observed on 9.3.4). */
function parseLimit(text: string | undefined): [number, number] | undefined {
  const match = /^(-?\d+)(?:,(-?\d+))?$/.exec(text ?? '');
  if (!match) return;
  const [, first, second] = match;
  const [lo, hi] = second === undefined ? [1, Number(first)] : [Number(first), Number(second)];
  return [Math.max(lo, 1) - 1, Math.max(hi, lo, 1)];
}

export const rejectionResponse = (status: number, query: string, message: string, position: number): HttpResponse =>
  jsonResponse(status, `{"query":${quote(query)},"error":${quote(message)},"position":${position}}`);

export const textResponse = (status: number, message: string): HttpResponse => ({
  status,
  type: 'text',
  body: `${message}\r\n`,
});

export const emptyResponse = (status: number, headers = {}): HttpResponse => ({
  status,
  type: 'text',
  body: '',
  headers,
  isUnchunked: true,
});

export const jsonResponse = (status: number, body: string): HttpResponse => ({ status, type: 'json', body });

/** As in QuestDB, the NUL of a VARCHAR is not escaped, although that is invalid JSON (observed on 9.3.4). */
function formatValue(value: Cell, type: string | undefined): string {
  return typeof value === 'string' ? quote(value, type === 'VARCHAR' ? '\0' : '\\u0000') : String(value);
}

/** JSON as QuestDB escapes it: newline, carriage return and tab are the only control characters with a short form. */
function quote(value: string, nul = '\\u0000'): string {
  const replacements: Record<string, string> = { '\\b': '\\u0008', '\\f': '\\u000c', '\\u0000': nul };
  return JSON.stringify(value).replace(/\\(?:u....|.)/g, sequence => replacements[sequence] ?? sequence);
}
