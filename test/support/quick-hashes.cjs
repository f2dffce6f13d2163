/*! Loaded into servers and tests whose passwords need not be hard to guess: one hash as it is takes a fifth of a second. */
const crypto = require('node:crypto');

const { SCRYPT_N = 2 } = process.env;
const { scrypt } = crypto;
crypto.scrypt = (password, salt, length, cost, done) =>
  scrypt(password, salt, length, { ...cost, N: Number(SCRYPT_N) }, done);
require('node:module').syncBuiltinESMExports();
