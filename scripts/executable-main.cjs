/*! The main script of an executable: loads the files of the programs, which are its assets, when they are needed. */
const { posix: path } = require('node:path');
const { getAsset } = require('node:sea');
const { compileFunction } = require('node:vm');

/** Loads a file as Node loads CommonJS. Each is loaded once, because a run needs none twice. */
function load(file) {
  const module = { exports: {} };
  const requireFrom = name => (name.startsWith('.') ? load(path.join(file, '..', name)) : require(name));
  compileFunction(getAsset(file, 'utf8'), ['exports', 'require', 'module'], { filename: file })(
    module.exports,
    requireFrom,
    module,
  );
  return module.exports;
}

load('sqlpipe/dist/main.js').main();
