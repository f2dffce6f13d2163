/*! docs/ERRORS.md: it contains every message in the sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { sourcesOf, type Text } from '../support/sources.js';
import { test } from '../support/test.js';

const PAGE = 'docs/ERRORS.md';
const page = readFileSync(PAGE, 'utf8').replace(/\s+/g, ' ');
const sources = sourcesOf(readdirSync('packages').map(name => `packages/${name}`)).flat();

/** Functions whose arguments are our messages, not QuestDB's that sqlserve sends. Messages of yargs and of the system are not checked. */
const MESSAGE_CALLEES = /^(?!RejectionError|DenialError)\w*(Error|Failure)$|^#?(warn|error|info)$/;

/** Files with texts that other files throw or print: every text in them counts as a message. */
const MESSAGE_FILES = [
  ...['client', 'json-scanner', 'reply', 'resumed-rows', 'row-scanner', 'transport-messages'].map(
    name => `instance/src/http/${name}`,
  ),
  'files/src/schema-folder',
  ...['identify', 'splitter'].map(name => `sql/src/${name}`),
  ...['execute/executor', 'outcome', 'checks/preflight', 'execute/verify'].map(name => `replay/src/${name}`),
  ...['format-rejection', 'login-check', 'summary'].map(name => `sqlapply/src/${name}`),
].map(name => `packages/${name}.ts`);

const SERVER_FILES =
  /^packages\/(server\/src\/routes|engine\/src\/(analyze|execute|parse)|ddl\/src\/(columns|command|create|parser|properties))/;

/** Texts that are never shown, or are not prose. */
const NOT_MESSAGES = new Set([
  'no longer wanted',
  'IF NOT EXISTS',
  'GRANT ASSUME SERVICE ACCOUNT',
  'ASSUME SERVICE ACCOUNT',
  "already exists, does not exist, name expected, got, expected 'TABLE', DATABASE, empty query",
]);

const isMessage = (path: string, { within }: Text) =>
  MESSAGE_FILES.includes(path) || within.some(callee => MESSAGE_CALLEES.test(callee));

/** Only texts with at least three words in a row can be searched for reliably. */
const isPhrase = (text: string) => /\S+ \S+ \S+/.test(text) && !NOT_MESSAGES.has(text);

test(`${PAGE} has the full text of each message and cause, so that a search finds both`, t =>
  t.notRegex(page, /likewise|messages above|\| as above/));

test(`${PAGE} contains every message of the sources`, t => {
  const wrong = MESSAGE_FILES.filter(file => !sources.some(({ path }) => path === file));
  t.deepEqual(wrong, [], 'files that are gone');
  const missing = sources
    .filter(({ path }) => !SERVER_FILES.test(path))
    .flatMap(({ path, texts }) => texts.filter(text => isMessage(path, text)).map(({ text }) => ({ path, text })))
    .filter(({ text }) => isPhrase(text) && !page.includes(text.trim().replace(/\s+/g, ' ')))
    .map(({ path, text }) => `${path}: ${text}`);
  t.deepEqual(missing, []);
});
