// quick differential: in-process
import { readFileSync } from 'node:fs';

const { Service } = await import('/work/main/packages/sqlserve/src/service.ts');
const { openSource } = await import('/work/main/packages/sqlserve/src/oss.ts');
const { statementOf } = await import('/work/main/packages/sqlserve/src/text.ts');
const dir = '/work/shared/corpus/';
const load = (f: string) =>
  readFileSync(dir + f, 'utf8')
    .trim()
    .split('\n')
    .map(l => JSON.parse(l));
const only = process.argv[2];
const show = Number(process.argv[3] ?? 40);
const filter = process.argv[4];
for (const f of only ? [only] : ['tables', 'names', 'views']) {
  let n = 0,
    v = 0,
    tx = 0,
    txn = 0,
    m = 0,
    mn = 0,
    mm = 0;
  const out: string[] = [];
  for (const c of load(f + '.jsonl')) {
    const want = c.later ?? c;
    if (want.status === null || c.server_config?.includes('ALIAS')) continue;
    const s = new Service({ edition: openSource(undefined) });
    let setup = [...(c.base_ddl ?? []), ...[c.setup ?? []].flat()];
    if (f === 'names') setup.push('create table b (ts timestamp, x int) timestamp(ts) partition by day wal');
    let bad = '';
    for (const q of setup)
      try {
        await s.execute(q);
      } catch (e: any) {
        bad = q + ' ' + e.message;
      }
    let got: any;
    try {
      const o = await s.execute(c.sql);
      got = { status: 200, kind: o.kind };
    } catch (e: any) {
      got = {
        status: 400,
        error: e.message,
        position: e.position,
        stack: e.position === undefined ? e.stack : undefined,
      };
    }
    n++;
    const wb =
      want.body && typeof want.body === 'object'
        ? want.body
        : (() => {
            try {
              return JSON.parse(want.body);
            } catch {
              return {};
            }
          })();
    const line = (k: string, x: string) => {
      const t = `${k} ${c.id} ${JSON.stringify(c.sql.slice(0, 400))}\n      want ${want.status} ${wb.error ?? ''} @${wb.position}\n      got  ${got.status} ${got.error ?? ''} @${got.position} ${got.stack ?? ''} ${x}${bad ? ' SETUP ' + bad : ''}`;
      if (!filter || t.includes(filter)) out.push(t);
    };
    if (want.status !== got.status) {
      line('VERDICT', '');
      if (want.status === 400) mn++;
      continue;
    }
    v++;
    if (want.status === 400) {
      mn++;
      if (wb.error === got.error && wb.position === got.position) m++;
      else {
        line('MESSAGE', '');
        if (wb.error === got.error) mm++;
      }
    } else if (want.show_create) {
      txn++;
      const name =
        /^CREATE (?:TABLE|VIEW|MATERIALIZED VIEW) '(.*?)' (?:\( |AS|WITH BASE)/s.exec(want.show_create)?.[1] ?? '';
      const o = s.catalogue.find(name);
      const t = o ? statementOf(o) : '';
      const norm = (x: string) => x.replace(/START '[^']*'/, m => (/start/i.test(c.sql) ? m : 'START'));
      if (norm(t) === norm(want.show_create)) tx++;
      else line('TEXT', '\n' + want.show_create + '\n--got--\n' + t);
    }
  }
  const p = (a: number, b: number) => ((100 * a) / b).toFixed(1) + '% (' + a + '/' + b + ')';
  console.log(f, 'verdict', p(v, n), 'text', p(tx, txn), 'message+position', p(m, mn), 'msg ok pos off', mm);
  for (const o of out.slice(0, show)) console.log(o);
}
