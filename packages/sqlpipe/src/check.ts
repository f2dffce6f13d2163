/*! `sqlpipe check`: whether an instance can be dumped, and replayed on. */
import { addInstanceOptions, Exit, printSettings, runProgram } from '@sqlpipe/cli';
import { dump, inspect, resolveInstance } from '@sqlpipe/instance';
import { escapeControls } from '@sqlpipe/sql';

runProgram({
  name: 'sqlpipe check',
  operands: '<instance>',
  operandTypes: ['instances'],
  summary: 'Checks whether a schema can be dumped from an instance and applied to it. Changes nothing.',
  examples: [
    ['sqlpipe check http://localhost:9000', 'print its version, user and problems'],
    ['sqlpipe check src > /dev/null && sqlpipe dump src | sqlpipe apply dst', 'copy a schema if the check succeeds'],
  ],
  options: cli => addInstanceOptions(cli),
  run: async ({ operands: [instance = ''], ...options }, { env, warn, promptSecret, logRequest, print, error }) => {
    const target = await resolveInstance(instance, {
      program: 'sqlpipe',
      env,
      options,
      warn,
      promptSecret,
      logRequest,
    });
    if (options.showConfig) return printSettings([target.settings], { print });
    const line = (name: string, value: string) => print(`${name}: ${escapeControls(value)}\n`);
    await line('instance', target.label);
    const found = await inspect(target);
    await line('endpoint', found.endpoint);
    await line('version', found.version);
    await line('user', found.user);
    await line('access control', found.accessControl);
    if (found.permissions.length) await line('permissions', found.permissions.join(', '));
    await line('request limit', found.requestLimit);
    for (const [name, reason] of found.invalid) await line('invalid', `'${name}': ${reason}`);
    for (const name of found.suspended) await line('suspended', `'${name}'`);

    let count = 0;
    for await (const batch of dump(target)) count += batch.length;
    await line('statements', String(count));
    if (found.denied) {
      error(`${target.label}: ${found.denied}`);
      return Exit.denied;
    }
    return found.invalid.size || found.suspended.length ? Exit.negative : Exit.ok;
  },
});
