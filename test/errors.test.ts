/*! docs/ERRORS.md: that it has whatever the sources tell people. */
import { readdirSync, readFileSync } from 'node:fs';
import { sourcesOf, type Text } from './support/sources.js';
import { test } from './support/test.js';

const PAGE = 'docs/ERRORS.md';
const page = readFileSync(PAGE, 'utf8').replace(/\s+/g, ' ');
const sources = readdirSync('packages').flatMap(name => sourcesOf(`packages/${name}`));

/** Whose arguments are messages: ours, not QuestDB's that sqlserve sends. Those of yargs and of the system are not known here. */
const TELLING = /^(?!RejectionError|DenialError)\w*(Error|Failure)$|^#?(warn|error|info)$/;

/** Files with the texts of messages that others throw or print: in them every text counts. */
const WORDING =
  /^packages\/(instance\/src\/(instance|json|reply|row-scanner|transport-messages)|files\/src\/layout|sql\/src\/(ambiguity|splitter)|replay\/src\/(executor|location|preflight|verify)|sqlapply\/src\/(format-rejection|hints|login-check))\.ts$/;

/** In these the words are the service's, as sqlserve stands for it. */
const SERVICE = /^packages\/(server\/src\/(acl|analysis|change|parser|routes)|ddl\/src\/grammar)/;

/** Shown to nobody, or no words. */
const OTHER = new Set([
  'no longer wanted',
  "(SHOW PARAMETERS) WHERE property_path = 'http.request.header.buffer.size'",
  "already exists, does not exist, name expected, got, expected 'TABLE', DATABASE, empty query",
]);

const isTold = (path: string, { within }: Text) => WORDING.test(path) || within.some(callee => TELLING.test(callee));

/** Three words in a row are enough to be found by. */
const isPhrase = (text: string) => /\S+ \S+ \S+/.test(text) && !OTHER.has(text);

test(`${PAGE} has every message of the sources`, t => {
  const missing = sources
    .filter(({ path }) => !SERVICE.test(path))
    .flatMap(({ path, texts }) => texts.filter(text => isTold(path, text)).map(({ text }) => ({ path, text })))
    .filter(({ text }) => isPhrase(text) && !page.includes(text.trim().replace(/\s+/g, ' ')))
    .map(({ path, text }) => `${path}: ${text}`);
  t.deepEqual(missing, []);
});
