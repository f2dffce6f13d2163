/*! Loads a test file as `ava.config.js` has compiled it, and keeps the time that it takes. */
const { mkdirSync, writeFileSync } = require('node:fs');
const { basename, join, relative, resolve } = require('node:path');

const times = resolve('.cache/times');
mkdirSync(times, { recursive: true });

require.extensions['.ts'] = (module, path) => {
  const compiled = join('.cache/compiled', relative('.', path).replace(/ts$/, 'js'));
  module.exports = import(require('node:url').pathToFileURL(compiled).href);
  process.on('exit', () => writeFileSync(join(times, basename(path)), String(process.uptime())));
};
