/*! One instance over HTTP: its address, credentials, rows and dump, the execution of statements, and every failure. */

export { BestEffortClient, ifAccepted, queryIfAccepted, tryQuery } from './best-effort-client.js';
export type {
  ConnectionConfig,
  Credentials,
  InstanceOptions,
  ResolveContext,
  ResolvedInstance,
} from './configuration/connection-config.js';
export { listInstances } from './configuration/named-instances.js';
export { resolveInstance } from './configuration/resolve.js';
export { fetchPrincipals, fetchRights, fetchRightsOf, hasCredentials } from './dump/acl.js';
export { type DumpOptions, dump } from './dump/dump.js';
export { listAllObjects } from './dump/list-objects.js';
export { fetchStatements } from './dump/statements.js';
export { SymbolCapacities, USUAL_SYMBOL_CAPACITY } from './dump/symbol-capacities.js';
export {
  askUntilSettled,
  fetchHealth,
  fetchRefreshState,
  fetchRunningRefreshes,
  fetchViewColumns,
  fetchWalState,
  isChangeOfBase,
  type RefreshState,
} from './fetch-health.js';
export type { Rejection, Reply } from './http/reply.js';
export { batchesOf, DEFAULT_REQUEST_BUFFER, encodeQuery, toRequestText } from './http/request.js';
export {
  fetchCommonDefaults,
  fetchDefaults,
  fetchParameters,
  fetchVersion,
  inspect,
  isEnterprise,
} from './inspect.js';
export { connect, type Instance, withInstance } from './instance.js';
export { InstanceError } from './instance-error.js';
export { waitUntilReady } from './wait.js';
