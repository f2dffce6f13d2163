/*! A QuestDB-compatible server that stores schema only: an engine with logins, a journal, HTTP. */

export { DEFAULT_ADMIN, EDITIONS, type LoginCredentials } from './logins.js';
export * from './start.js';
