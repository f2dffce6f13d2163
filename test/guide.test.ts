/*! The tutorial of GUIDE.md and the recording made from it: both show the current output of the programs. */
import { readFileSync } from 'node:fs';
import { drawRecording } from '../scripts/recording/svg.js';
import { fileScope } from './support/scope.js';
import { test } from './support/test.js';
import { insertOutput, runTutorial, type Step, tutorialOf } from './support/tutorial.js';

const GUIDE = readFileSync('GUIDE.md', 'utf8');
const HINT = 'make guide writes both';
const file = fileScope();
let steps: Step[];

test.before(async () => {
  steps = await runTutorial(file, GUIDE);
});

test('the tutorial shows the current output of the programs', t => {
  t.is(insertOutput(GUIDE, steps), GUIDE, HINT);
});

test('the recording shows the current output of the programs', t => {
  t.is(drawRecording(steps.filter(({ recorded }) => recorded)), readFileSync('docs/demo.svg', 'utf8'), HINT);
});

test('every command of the tutorial is run', t => {
  const prompts = tutorialOf(GUIDE).match(/^\$ /gm) ?? [];
  t.is(steps.filter(({ command }) => !command.endsWith('\n')).length, prompts.length);
});
