#!/usr/bin/env node
const { HOME, XDG_CACHE_HOME = HOME && `${HOME}/.cache` } = process.env;
// Not Node's default, a folder below /tmp: what somebody else has put there would be run.
if (XDG_CACHE_HOME) require('node:module').enableCompileCache?.(`${XDG_CACHE_HOME}/sqlpipe`);
require('../dist/main.js').main();
