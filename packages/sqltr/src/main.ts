import { createMain, FLAG, SEVERAL, SHARED_OPTIONS } from '@sqlpipe/cli';

export const main = createMain({
  name: 'sqltr',
  operands: '',
  summary: 'Translates a schema to other names, owners, editions or versions.',
  examples: [
    ["sqldump src | sqltr --rename 'fx_*=acme_*' | sqlapply dst", 'copy for another tenant'],
    ["sqldump src | sqltr --owner '*=ops' | sqlapply dst", 'copy with one owner for all objects'],
    ['sqldump prod | sqltr --to open-source --lossy | sqlapply laptop', 'copy from Enterprise to open source'],
  ],
  options: {
    rename: { ...SEVERAL, placeholder: 'OLD=NEW', describe: 'rename tables and views everywhere' },
    'rename-file': { ...SEVERAL, describe: 'file with rules for --rename, one per line' },
    owner: { ...SEVERAL, placeholder: 'OLD=NEW', describe: 'rename the owner in OWNED BY' },
    principal: { ...SEVERAL, placeholder: 'OLD=NEW', describe: 'rename users, groups and service accounts' },
    to: {
      ...SEVERAL,
      placeholder: 'SERVER',
      completions: ['open-source', 'oss', 'enterprise'],
      describe: 'translate for open-source, enterprise, or a version such as 9.3',
    },
    lossy: { ...FLAG, describe: 'remove what cannot be translated, with a warning' },
    'max-record': SHARED_OPTIONS.maxRecord,
  },
  run: async (options, io) => (await import('./translate.js')).writeTranslation(options, io),
});
