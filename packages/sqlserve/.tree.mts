import { parseQuery } from '/work/main/packages/sqlserve/src/parser/query.ts';

for (const q of process.argv.slice(2)) {
  try {
    const { select, at } = parseQuery(q, 0);
    console.log(
      JSON.stringify(select, (k, v) => (v && typeof v === 'object' && !Array.isArray(v) ? { ...v, _at: at(v) } : v)),
    );
  } catch (e: any) {
    console.log(q, e.message, e.position);
  }
}
