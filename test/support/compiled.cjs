/*! Loads a test file as `ava.config.js` has compiled it. */
const { join, relative } = require('node:path');

require.extensions['.ts'] = (module, path) => {
  const compiled = join('.cache/compiled', relative('.', path).replace(/ts$/, 'js'));
  module.exports = import(require('node:url').pathToFileURL(compiled).href);
};
