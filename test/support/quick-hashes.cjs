/*! Loaded into a server whose passwords need not be hard to guess: one hash as it is takes a fifth of a second. */
const crypto = require('node:crypto');

const { scrypt } = crypto;
crypto.scrypt = (password, salt, length, cost, done) => scrypt(password, salt, length, { ...cost, N: 2 }, done);
