/*!
 * Sends 100,000 (TEXTS) random texts of statements, comments and quotes to real servers with either comment rules, if
 * sqlapply would send them: each executed text has to do what sqlapply identified it as. SEED repeats a run.
 */
import { openScope } from '../test/support/scope.js';
import { startServer } from '../test/support/server.js';
import { checkTexts } from './hidden/check.js';

const TEXTS = Number(process.env.TEXTS ?? 100_000);
const SEED = Number(process.env.SEED ?? Date.now() % 1e9);

console.log(`seed ${SEED}`);
for (const version of ['9.3.4', '9.2.3']) {
  const scope = openScope();
  const env = { QUESTDB_VERSION: version };
  const server = await startServer(scope, process.execPath, ['--import=tsx', 'scripts/questdb.ts'], env);
  const { sent, applied, wrong } = await checkTexts(server, { count: TEXTS, seed: SEED }).finally(() => scope.end());
  console.log(
    `QuestDB ${version}: ${TEXTS} texts, ${sent} sent, ${applied} executed, ${wrong.length} of them not as identified`,
  );
  for (const text of wrong) console.log(JSON.stringify(text));
  if (wrong.length) process.exitCode = 1;
}
