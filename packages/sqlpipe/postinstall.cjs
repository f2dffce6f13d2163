/*! Warns where `sqldiff` will be another program than ours, such as SQLite's. It fails nobody's installation. */
const { accessSync, constants, openSync, realpathSync, writeSync } = require('node:fs');
const { delimiter, join, sep } = require('node:path');

/** The first of that name on the PATH, but for what npm puts there for scripts; nothing if it is ours. */
function findOther({ PATH = '', npm_config_prefix: prefix }) {
  for (const folder of PATH.split(delimiter)) {
    if (/node_modules[\\/]\.bin$|node-gyp-bin$/.test(folder)) continue;
    if (prefix && folder === join(prefix, 'bin')) return undefined;
    const path = join(folder, 'sqldiff');
    try {
      accessSync(path, constants.X_OK);
    } catch {
      continue;
    }
    return realpathSync(path).startsWith(__dirname + sep) ? undefined : path;
  }
}

/** npm shows what the scripts of a package print only where they fail: the terminal itself is told. */
function openTerminal() {
  try {
    return openSync('/dev/tty', 'w');
  } catch {
    return 2;
  }
}

try {
  const other = process.env.npm_config_global === 'true' ? findOther(process.env) : undefined;
  if (other)
    writeSync(openTerminal(), `sqlpipe: warning: ${other} comes first on the PATH: for ours, type sqlpipe diff\n`);
} catch {}
