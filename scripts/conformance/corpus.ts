/*! The recorded objects of a real server, as scenarios that can be run again: statements and settings. */
import { identify, significantTokens, unquote } from '@sqlpipe/sql';
import { readCorpus } from '../../test/support/corpus.js';

/** Statements that create one or several objects. */
export interface Scenario {
  /** The identifier of the recording. */
  id: string;
  statements: string[];
  /** `QDB_…` variables of the server that accepted it. */
  settings: NodeJS.ProcessEnv;
  /** Whether its tables may be renamed after their creation: hundreds are called `t`, and all have to fit into few databases. */
  renames: boolean;
}

/** The base table of the views in names.jsonl, from its README. */
const BASE = 'create table b (ts timestamp, x int) timestamp(ts) partition by day wal';

/** The scenarios in which the recorded server accepted the last statement. */
export function scenarios(): Scenario[] {
  return ['tables', 'views', 'names'].flatMap(file =>
    readCorpus(file)
      .filter(({ status }) => status === 200)
      .map(({ id, sql, what, setup, base_ddl, server_config }) => ({
        id,
        statements: [
          ...(what === 'view' ? [BASE] : setup),
          ...(base_ddl ?? []),
          file === 'views' ? withUniqueName(id, sql) : sql,
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

/** The statement with a unique name of the view; unchanged if the name has a schema. */
function withUniqueName(id: string, sql: string): string {
  const { name } = identify(sql);
  const token = [...significantTokens(sql)].find(({ text }) => unquote(text) === name);
  const end = token ? token.start + token.text.length : 0;
  return token && sql[end] !== '.' ? `${sql.slice(0, token.start)}'${name} ${id}'${sql.slice(end)}` : sql;
}
