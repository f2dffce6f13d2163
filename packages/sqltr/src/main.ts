import { createMain, maxRecordOption } from '@sqlpipe/cli';
import { MAX_RECORD } from '@sqlpipe/records';

/** An option that can be given more than once. */
const SEVERAL = { type: 'string', array: true, requiresArg: true } as const;

/** The program. */
export const main = createMain({
  name: 'sqltr',
  operands: '',
  summary: 'Translates a schema to other names, owners, editions or versions.',
  examples: [
    ["sqldump src | sqltr --rename 'fx_*=acme_*' | sqlapply dst", 'copy for another tenant'],
    ["sqldump src | sqltr --owner '*=ops' | sqlapply dst", 'copy with one owner for all objects'],
    ['sqldump prod | sqltr --to open-source --lossy | sqlapply laptop', 'copy from Enterprise to open source'],
  ],
  values: { to: ['open-source', 'oss', 'enterprise'] },
  options: cli =>
    cli
      .option('rename', { ...SEVERAL, describe: 'rename tables and views everywhere' })
      .option('rename-file', { ...SEVERAL, describe: 'file with rules for --rename, one per line' })
      .option('owner', { ...SEVERAL, describe: 'rename the owner in OWNED BY' })
      .option('principal', { ...SEVERAL, describe: 'rename users, groups and service accounts' })
      .option('to', { ...SEVERAL, describe: 'translate for open-source, enterprise, or a version such as 9.3' })
      .option('lossy', {
        type: 'boolean',
        default: false,
        describe: 'remove what cannot be translated, with a warning',
      })
      .option('max-record', maxRecordOption(MAX_RECORD)),
  run: async (options, io) => (await import('./write-translation.js')).writeTranslation(options, io),
});
