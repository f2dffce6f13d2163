import { waitUntil } from '../../test/support/background.js';
import { serverAt } from '../../test/support/server.js';
/*! The objects of a running server, queried without our programs. */

/** A statement that the server rejected. */
export class RejectedError extends Error {}

/** One object as a server shows it. */
export interface Shown {
  /** The output of `SHOW CREATE`, without the white space that older servers add to the body of a view. */
  definition: string;
  /** Names and types of its columns, or the error message. */
  columns: string;
}

interface Reply {
  error?: string;
  columns?: { name: string; type: string }[];
  dataset?: unknown[][];
}

export class Database {
  constructor(readonly url: string) {}

  /** @throws Refused */
  async execute(sql: string): Promise<unknown[][]> {
    return (await this.#ask(sql)).dataset ?? [];
  }

  async dropAll(): Promise<void> {
    await serverAt(this.url).dropAll();
  }

  /** The names of all objects. Not from `tables()`, which a view of that name would shadow. */
  async objects(): Promise<string[]> {
    return (await this.execute('SHOW TABLES')).map(([name]) => String(name));
  }

  /** Waits until all ALTER statements are applied, which happens after their OK. */
  async settle(): Promise<void> {
    const behind = 'SELECT name FROM wal_tables() WHERE NOT suspended AND writerTxn <> sequencerTxn LIMIT 1';
    await waitUntil(behind, async () => (await this.execute(behind)).length === 0);
  }

  /** All objects by name. */
  async shown(): Promise<Map<string, Shown>> {
    const shown = new Map<string, Shown>();
    for (const name of await this.objects()) {
      const columns = await this.#ask(`SELECT * FROM '${name}' LIMIT 0`).then(
        reply => JSON.stringify(reply.columns),
        (error: Error) => error.message,
      );
      shown.set(name, { definition: await this.#definition(name), columns });
    }
    return shown;
  }

  /** SHOW CREATE TABLE comes last, as it answers for views too, and wrongly (observed on 9.3.4). */
  async #definition(name: string): Promise<string> {
    for (const kind of ['VIEW', 'MATERIALIZED VIEW', 'TABLE']) {
      const reply = await this.#ask(`SHOW CREATE ${kind} '${name}'`).catch(() => undefined);
      const definition = reply?.dataset?.[0]?.[0];
      if (definition !== undefined) return kind === 'TABLE' ? String(definition) : trimBody(String(definition));
    }
    throw new Error(`no definition of ${name}`);
  }

  async #ask(sql: string): Promise<Reply> {
    const reply = (await (await fetch(`${this.url}/exec?${new URLSearchParams({ query: sql })}`)).json()) as Reply;
    if (reply.error !== undefined) throw new RejectedError(reply.error);
    return reply;
  }
}

/** A view's definition without white space and semicolons at the ends of its body, which differ between versions. */
const trimBody = (definition: string): string =>
  definition.replace(/( AS \( ?\n)[\0- ]*/, '$1').replace(/[\0- ;]*(\n\)[^\n]*)$/, '$1');
