/*! The recorded objects of a real server, as scenarios that can be run again: some statements, and with which settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, significantTokens, unquote } from '@sqlpipe/sql';

/** What makes one object or some. */
export interface Scenario {
  /** Where it was recorded. */
  id: string;
  statements: string[];
  /** `QDB_…` variables of the server that took it. */
  settings: NodeJS.ProcessEnv;
  /** Whether its tables may get other names once they are made: hundreds are called `t`, and all are to fit into few databases. */
  renames: boolean;
}

/** A line of the recordings, as far as it is looked at. */
interface Recorded {
  id: string;
  sql: string;
  status: number | null;
  what?: string;
  setup?: string[] | string | null;
  base_ddl?: string[];
  server_config?: string;
}

/** What the views of names.jsonl are over, as its README says. */
const BASE = 'create table b (ts timestamp, x int) timestamp(ts) partition by day wal';

/** The scenarios in which the recorded server took the last statement. */
export function scenarios(corpus: string): Scenario[] {
  return ['tables', 'views', 'names'].flatMap(file =>
    readFileSync(join(corpus, `${file}.jsonl`), 'utf8')
      .split('\n')
      .filter(line => line)
      .map((line): Recorded => JSON.parse(line))
      .filter(({ status }) => status === 200)
      .map(({ id, sql, what, setup, base_ddl, server_config }) => ({
        id,
        statements: [
          ...[what === 'view' ? BASE : (setup ?? [])].flat(),
          ...(base_ddl ?? []),
          file === 'views' ? namedAfter(id, sql) : sql,
        ],
        settings: Object.fromEntries(
          (server_config ?? '')
            .split(' ')
            .filter(Boolean)
            .map(pair => pair.split('=')),
        ),
        renames: file === 'tables' || what === 'column',
      })),
  );
}

/** The statement with a view's name that no other has; as it is where the name has a schema. */
function namedAfter(id: string, sql: string): string {
  const { name } = identify(sql);
  const token = [...significantTokens(sql)].find(({ text }) => unquote(text) === name);
  const end = token ? token.start + token.text.length : 0;
  return token && sql[end] !== '.' ? `${sql.slice(0, token.start)}'${name} ${id}'${sql.slice(end)}` : sql;
}
