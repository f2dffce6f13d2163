/*!
 * An instance that replies at once, so that only the programs are measured: it dumps the same statements to
 * everybody, replies OK to every statement, and returns the definitions that it would have been sent.
 * Arguments: the number of statements, of columns each, and the form in which they are printed. Prints its URL.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [count = 20, columns = 8] = process.argv.slice(2, 4).map(Number);

/** Forms of a row: as 9.3 prints most, with names beyond ASCII, as 9.0 prints it, and with a name that lacks its quotes. */
const FORMS: Record<string, { column: (c: number) => string; end: string }> = {
  usual: { column: c => `column_${c} DOUBLE`, end: ';' },
  unicode: { column: c => `größe_${c} DOUBLE`, end: ';' },
  older: {
    column: c => `column_${c} SYMBOL CAPACITY 256 CACHE`,
    end: ' WAL\nWITH maxUncommittedRows=500000, o3MaxLag=600000000us;',
  },
  unquoted: { column: c => (c === 3 ? 'order DOUBLE' : `column_${c} DOUBLE`), end: ';' },
};

const { column, end } = FORMS[process.argv[4] ?? 'usual'] as (typeof FORMS)[string];

const statement = (i: number): string =>
  `CREATE TABLE 'table_${i}' ( \n\tts TIMESTAMP,\n${Array.from({ length: columns }, (_, c) => `\t${column(c)}`).join(',\n')}\n) timestamp(ts) PARTITION BY DAY${end}`;

/** The reply in pieces, since a large dump does not fit into one string. */
function* dump(): Generator<string> {
  yield '{"query":"","columns":[{"name":"ddl","type":"VARCHAR"}],"timestamp":-1,"dataset":[';
  for (let i = 0; i < count; i += 1000) {
    const rows = Array.from({ length: Math.min(1000, count - i) }, (_, k) => `[${JSON.stringify(statement(i + k))}]`);
    yield (i ? ',' : '') + rows.join(',');
  }
  yield `],"count":${count}}`;
}

const DUMP = [...dump()].map(piece => Buffer.from(piece));

/** SHOW CREATE of any of the tables, many joined by UNION ALL. */
const definitions = (query: string): string => {
  const rows = [...query.matchAll(/'table_(\d+)'/g)].map(([, i]) => [statement(Number(i))]);
  return JSON.stringify({ dataset: rows, count: rows.length });
};

const server = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '';
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (query.startsWith('SHOW CREATE DATABASE')) {
    for (const piece of DUMP) response.write(piece);
    response.end();
  } else if (query.startsWith('SHOW CREATE')) response.end(definitions(query));
  else response.end(query.startsWith('CREATE') ? '{"ddl":"OK"}' : '{"dataset":[],"count":0}');
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
