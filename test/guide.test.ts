/*! The tutorial of GUIDE.md and the recording made from it: what they show is what the programs print today. */
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

test('the tutorial shows what the programs print', t => {
  t.is(insertOutput(GUIDE, steps), GUIDE, HINT);
});

test('the recording shows what the programs print', t => {
  t.is(drawRecording(steps.filter(({ recorded }) => recorded)), readFileSync('docs/demo.svg', 'utf8'), HINT);
});

test('every block of the tutorial with a command is run', t => {
  const prompts = tutorialOf(GUIDE).match(/^\$ /gm) ?? [];
  t.is(steps.filter(({ command }) => !command.endsWith('\n')).length, prompts.length);
});
