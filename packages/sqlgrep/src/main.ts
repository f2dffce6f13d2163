import { pipeline } from 'node:stream/promises';
import { createMain, Exit, maxRecordOption, UsageError } from '@sqlpipe/cli';
import { createCommitWriter, decodeRecords, encodeRecords, MAX_RECORD } from '@sqlpipe/records';
import { createMatcher, type Entry } from '@sqlpipe/schema';
import { KINDS } from '@sqlpipe/sql';
import { formatJsonLine, formatListLine, printCount, printLines } from './listing.js';
import { selectStatements } from './select-statements.js';

/** The program. */
export const main = createMain({
  name: 'sqlgrep',
  operands: '[pattern..]',
  summary: 'Selects statements of a stream by the kind and name of the object that they create.',
  examples: [
    ["sqldump src | sqlgrep 'fx_*' | sqlapply dst", 'copy a part of a schema'],
    ['sqldump src | sqlgrep --with-deps daily | sqlapply dst', 'copy one view and everything that it needs'],
    ["sqldump src | sqlgrep -v --kind table 'tmp_*' > rest.stream", 'save everything except some tables'],
  ],
  values: { kind: KINDS },
  options: cli =>
    cli
      .option('invert-match', {
        alias: 'v',
        type: 'boolean',
        default: false,
        describe: 'select what does not match',
      })
      .option('ignore-case', {
        alias: 'i',
        type: 'boolean',
        default: false,
        describe: 'no effect: names always match in any case',
      })
      .option('count', { alias: 'c', type: 'boolean', default: false, describe: 'print the number of statements' })
      .option('list', {
        alias: 'l',
        type: 'boolean',
        default: false,
        describe: 'print the kind, a tab and the name of each statement',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one line of JSON per statement' })
      .option('kind', {
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'select table, view, user, grant, …, or TABLES, SCHEMA, ACL, …',
      })
      .option('regexp', {
        alias: 'e',
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'select names that match this regular expression',
      })
      .option('with-deps', {
        type: 'boolean',
        default: false,
        describe: 'also select what the matches need',
      })
      .option('with-dependents', {
        type: 'boolean',
        default: false,
        describe: 'also select what needs the matches',
      })
      .option('max-record', maxRecordOption(MAX_RECORD)),
  run: async ({ operands: patterns, maxRecord, ...options }, io) => {
    const matcher = createMatcher({ ...options, patterns });
    let matchCount = 0;
    const matches = (entry: Entry): boolean => {
      const isMatch = matcher(entry);
      if (isMatch) matchCount++;
      return isMatch;
    };
    const { count, list, json } = options;
    if (Number(count) + Number(list) + Number(json) > 1)
      throw new UsageError('--count, --list and --json cannot be combined');
    const selected = selectStatements(decodeRecords(io.stdin(), { maxRecord }), matches, options);
    if (count) await printCount(selected, io);
    else if (list) await printLines(selected, formatListLine, io);
    else if (json) await printLines(selected, formatJsonLine, io);
    else await pipeline(selected, encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqlgrep'));
    if (!matchCount) io.info('nothing matched');
    return matchCount ? Exit.ok : Exit.negative;
  },
});
