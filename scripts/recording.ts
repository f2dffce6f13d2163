/*!
 * Runs the tutorial of GUIDE.md against two sqlserve, writes the output of each command into GUIDE.md, and draws the
 * commands that are marked there as docs/demo.svg, the recording at the top of README.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { openScope } from '../test/support/scope.js';
import { insertOutput, runTutorial } from '../test/support/tutorial.js';
import { drawRecording } from './recording/svg.js';

const scope = openScope();
try {
  const guide = readFileSync('GUIDE.md', 'utf8');
  const steps = await runTutorial(scope, guide);
  writeFileSync('GUIDE.md', insertOutput(guide, steps));
  writeFileSync('docs/demo.svg', drawRecording(steps.filter(({ recorded }) => recorded)));
} finally {
  await scope.end();
}
