import { planChanges, printPlan } from '@sqlpipe/schema';
import { schemaPair } from '../test/support/schema-pairs.ts';
let bad=0, om=0, st=0;
const N=Number(process.argv[2]??2000);
for (let seed=0; seed<N; seed++) { const pair=schemaPair(seed);
 try { const plan=planChanges(pair.after, pair.before, {renamed:pair.renamed}); om+=plan.omissions.length; st+=plan.statements.length;
  const allow=plan.omissions.flatMap(o=>o.allow??[]); planChanges(pair.after, pair.before, {renamed:pair.renamed, allowLoss:allow}); }
 catch(e) { if (bad++<6) console.log(seed, pair.changes, (e as Error).message, (e as Error).message.includes('lead')?'':(e as Error).stack?.split('\n').slice(1,4).join('\n')); }
}
console.log({bad,om,st});
