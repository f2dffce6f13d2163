import { createMain, FLAG, SEVERAL, SHARED_OPTIONS } from '@sqlpipe/cli';
import { KINDS } from '@sqlpipe/sql';

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
    'max-record': SHARED_OPTIONS.maxRecord,
  },
  run: async (options, io) => (await import('./select-statements.js')).writeSelection(options, io),
});
