import { createMain, Exit, FLAG, maxRecordOption, SEVERAL, UsageError } from '@sqlpipe/cli';
import { decodeRecords, MAX_RECORD, writeRecords } from '@sqlpipe/records';
import { createMatcher, type Entry } from '@sqlpipe/schema';
import { KINDS } from '@sqlpipe/sql';
import { formatJsonLine, formatListLine, selectStatements } from './select-statements.js';

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
  options: {
    'invert-match': { ...FLAG, alias: 'v', describe: 'select what does not match' },
    count: { ...FLAG, alias: 'c', describe: 'print the number of statements' },
    list: { ...FLAG, alias: 'l', describe: 'print the kind, a tab and the name of each statement' },
    json: { ...FLAG, describe: 'print one line of JSON per statement' },
    kind: {
      ...SEVERAL,
      placeholder: 'KINDS',
      completions: KINDS,
      describe: 'select table, view, user, grant, …, or TABLES, SCHEMA, ACL, …',
    },
    regexp: {
      ...SEVERAL,
      alias: 'e',
      placeholder: 'REGEXP',
      describe: 'select names that match this regular expression',
    },
    'with-deps': { ...FLAG, describe: 'also select what the matches need' },
    'with-dependents': { ...FLAG, describe: 'also select what needs the matches' },
    'max-record': maxRecordOption(MAX_RECORD),
  },
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
    if (count) {
      let number = 0;
      for await (const _ of selected) number++;
      await io.print(`${number}\n`);
    } else if (list || json)
      for await (const statement of selected) await io.print((list ? formatListLine : formatJsonLine)(statement));
    else await writeRecords(selected, io.stdout, 'sqlgrep', maxRecord);
    if (!matchCount) io.info('nothing matched');
    return matchCount ? Exit.ok : Exit.negative;
  },
});
