/*! A QuestDB-compatible server that stores schema only: an engine with logins, a journal, HTTP. */

export type { LoginCredentials } from './editions.js';
export type { InitialSchema } from './load.js';
export {
  DEFAULT_ADMIN,
  DEFAULT_REQUEST_LIMIT,
  RELEASES,
  type Release,
  type RunningServer,
  type ServerOptions,
  startServer,
} from './start.js';
