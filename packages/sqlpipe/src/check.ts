import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createMain, Exit, SHARED_OPTIONS, writeSettings } from '@sqlpipe/cli';
import { dump, fetchServerReport, resolveInstance } from '@sqlpipe/instance';
import { escapeControls } from '@sqlpipe/text';

export const main = createMain({
  name: 'sqlpipe check',
  operands: '<instance>',
  operandTypes: ['instances'],
  summary: 'Checks whether a schema can be dumped from an instance and applied to it. Changes nothing.',
  examples: [
    ['sqlpipe check http://localhost:9000', 'print its version, user and problems'],
    ['sqlpipe check src > /dev/null && sqlpipe dump src | sqlpipe apply dst', 'copy a schema if the check succeeds'],
  ],
  options: SHARED_OPTIONS.instance,
  run: async ({ operands: [instance = ''], ...options }, io) => {
    const resolved = await resolveInstance(instance, { ...io, program: 'sqlpipe', options });
    if (options.showConfig) return writeSettings([resolved.settings], io);
    const other = findOtherSqldiff(io.env.PATH);
    if (other) io.warn(`${other} comes first on the PATH: for ours, type sqlpipe diff`);
    const writeLine = (name: string, value: string) => io.write(`${name}: ${escapeControls(value)}\n`);
    await writeLine('instance', resolved.label);
    const report = await fetchServerReport(resolved);
    await writeLine('endpoint', report.endpoint);
    await writeLine('version', report.version);
    await writeLine('user', report.user);
    await writeLine('access control', report.accessControl);
    if (report.permissions.length) await writeLine('permissions', report.permissions.join(', '));
    await writeLine('request limit', report.requestLimit);
    for (const [name, reason] of report.invalid) await writeLine('invalid', `'${name}': ${reason}`);
    for (const [name, reason] of report.suspended) await writeLine('suspended', `'${name}': ${reason}`);

    let count = 0;
    for await (const batch of dump(resolved, { reportInvalid: false, warn: io.warn })) count += batch.length;
    await writeLine('statements', String(count));
    if (report.denied) {
      io.error(`${resolved.label}: ${report.denied}`);
      return Exit.DENIED;
    }
    return report.invalid.size || report.suspended.size ? Exit.negative : Exit.ok;
  },
});

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of the first `sqldiff` on the PATH, unless it belongs to this installation of sqlpipe. */
function findOtherSqldiff(PATH = ''): string | undefined {
  const first = PATH.split(delimiter)
    .map(folder => join(folder, 'sqldiff'))
    .find(isExecutable);
  if (!first) return undefined;
  const [, script = ''] = process.argv;
  // In an executable all programs are one file; otherwise each has a folder next to that of sqlpipe.
  const ours = [realpathSync(process.execPath), join(realpathSync(script), '../../../sqldiff/bin/sqldiff.js')];
  return ours.includes(realpathSync(first)) ? undefined : first;
}
