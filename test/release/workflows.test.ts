/*! The workflows for GitHub, ours and the examples, checked with GitHub's own parser. */
import { readdirSync, readFileSync } from 'node:fs';
import { tsImport } from 'tsx/esm/api';
import { parse } from 'yaml';
import { test } from '../support/test.js';

// The parser imports JSON as compilers do, not as Node does.
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow }: typeof import('@actions/workflow-parser') =
  await tsImport('@actions/workflow-parser', import.meta.url);

const own = readdirSync('.github/workflows').map(name => `.github/workflows/${name}`);
const examples = readdirSync('examples').filter(name => name.startsWith('github-'));

async function findErrors(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'workflow', content }, new NoOperationTraceWriter());
  if (value) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

for (const path of [...own, ...examples.map(name => `examples/${name}`)])
  test(`${path} is a valid workflow`, async t => {
    const content = readFileSync(path, 'utf8');
    t.deepEqual(await findErrors(content), []);
    t.not((await findErrors(content.replace('runs-on', 'run-on'))).length, 0);
    // A tag can be moved to another commit; `release.yml` may write and sign.
    const actions = content.match(/\buses: .*/g) ?? [];
    const wrong = actions.filter(each => !/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(each));
    t.deepEqual(wrong, []);
  });

test('CI calls targets of the Makefile only', t => {
  const { jobs } = parse(readFileSync('.github/workflows/test.yml', 'utf8')) as {
    jobs: Record<string, { steps: { run?: string }[] }>;
  };
  const steps = Object.values(jobs).flatMap(job => job.steps.flatMap(({ run }) => run ?? []));
  const others = steps.filter(run => !run.startsWith('make '));
  t.deepEqual(others, ['cat docs/COMPATIBILITY.md >> "$GITHUB_STEP_SUMMARY"']);
  const makefile = readFileSync('Makefile', 'utf8');
  const targets = steps.flatMap(run => (run.startsWith('make ') ? run.split(' ').slice(1) : []));
  const left = targets.filter(target => !new RegExp(`^${target}:`, 'm').test(makefile));
  t.deepEqual(left, []);
  t.regex(readFileSync('.ci/run', 'utf8'), /^make .*\bci\b/m);
});
