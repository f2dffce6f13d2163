import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createMain, Exit, INSTANCE_OPTIONS, instanceContext, writeSettings } from '@sqlpipe/cli';
import { dump, inspect, resolveInstance } from '@sqlpipe/instance';
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
  options: INSTANCE_OPTIONS,
  run: async ({ operands: [instance = ''], ...options }, io) => {
    const resolved = await resolveInstance(instance, { ...instanceContext(io), program: 'sqlpipe', options });
    if (options.showConfig) return writeSettings([resolved.settings], io);
    const other = findOtherSqldiff(io.env.PATH);
    if (other) io.warn(`${other} comes first on the PATH: for ours, type sqlpipe diff`);
    const printLine = (name: string, value: string) => io.print(`${name}: ${escapeControls(value)}\n`);
    await printLine('instance', resolved.label);
    const inspection = await inspect(resolved);
    await printLine('endpoint', inspection.endpoint);
    await printLine('version', inspection.version);
    await printLine('user', inspection.user);
    await printLine('access control', inspection.accessControl);
    if (inspection.permissions.length) await printLine('permissions', inspection.permissions.join(', '));
    await printLine('request limit', inspection.requestLimit);
    for (const [name, reason] of inspection.invalid) await printLine('invalid', `'${name}': ${reason}`);
    for (const [name, reason] of inspection.suspended) await printLine('suspended', `'${name}': ${reason}`);

    let count = 0;
    for await (const batch of dump(resolved)) count += batch.length;
    await printLine('statements', String(count));
    if (inspection.denied) {
      io.error(`${resolved.label}: ${inspection.denied}`);
      return Exit.denied;
    }
    return inspection.invalid.size || inspection.suspended.size ? Exit.negative : Exit.ok;
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
