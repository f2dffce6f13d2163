/*! One instance over HTTP: its address, its credentials, its rows, its dump, what it executes, and every way it says no. */
export { fetchPrincipals, fetchRights, fetchRightsOf, hasCredentials } from './access-control.js';
export { Aside } from './aside.js';
export { fetchDefaults } from './defaults.js';
export { definitions, hasDefinition } from './definitions.js';
export { type DumpOptions, dump } from './dump.js';
export { InstanceError, type InstanceErrorCode, type InstanceErrorDetails } from './error.js';
export { type Inspection, inspect } from './inspect.js';
export { connect, type Instance } from './instance.js';
export type { ObjectName } from './objects.js';
export type { Refusal, Reply } from './reply.js';
export { DEFAULT_REQUEST_BUFFER, encodeQuery } from './request.js';
export { type InstanceOptions, listInstances, type ResolveContext, resolveInstance } from './resolve.js';
export type { Setting } from './settings.js';
export type { ResolvedTarget, Target } from './target.js';
export { fetchVersion } from './version.js';
