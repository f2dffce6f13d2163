import { openScope } from '../test/support/open-scope.js';
import { shell } from '../test/support/shell.js';
import { reconcile } from '../test/support/reconcile.js';
import { readFileSync } from 'node:fs';
const url=readFileSync('/tmp/alter/url','utf8').trim().split('\n').pop()!;
const server:any={url, async execute(sql:string){const r=await fetch(`${url}/exec?${new URLSearchParams({query:sql})}`);return r.json();}, async empty(){await this.execute('DROP ALL');}};
const scope=openScope(); const run=await shell(scope);
const [from,to]=process.argv.slice(2).map(Number); let ok=0,rec=0,bad=0; const t0=Date.now();
for(let seed=from!;seed<to!;seed++){ try{ const r=await reconcile(server,run,seed); ok++; if(r.isReconciled) rec++; else if (process.env.V) console.log(seed,r.left); } catch(e){ bad++; console.log('FAIL',(e as Error).message.slice(0,1500)); if(bad>=(Number(process.env.MAX??3))) break; } }
console.log({ok,rec,bad,ms:Date.now()-t0}); await scope.end(); process.exit(0);
