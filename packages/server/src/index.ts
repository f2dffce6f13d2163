/*! A QuestDB-compatible server that stores schema only: an engine with logins, a journal, HTTP. */

export { DEFAULT_ADMIN, EDITIONS, type LoginCredentials } from './logins.js';
export {
  EMULATED_VERSIONS,
  type EmulatedVersion,
  type RunningServer,
  type ServerOptions,
  startServer,
} from './start.js';
