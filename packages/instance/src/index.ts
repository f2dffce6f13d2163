/*! One instance over HTTP: its address, its credentials, its rows, its dump, executing statements, and every way that it can fail. */
export { fetchPrincipals, fetchRights, fetchRightsOf, hasCredentials } from './access-control.js';
export { BestEffortClient, ifAccepted, queryIfAccepted, tryQuery } from './best-effort-client.js';
export type {
  ConnectionConfig,
  Credentials,
  InstanceOptions,
  ResolveContext,
  ResolvedInstance,
  Setting,
} from './connection-config.js';
export { type DumpOptions, dump } from './dump.js';
export {
  askUntilSettled,
  fetchHealth,
  fetchRefreshState,
  fetchViewColumns,
  fetchWalState,
  isChangeOfBase,
  type RefreshState,
  type WalState,
} from './fetch-health.js';
export {
  fetchCommonDefaults,
  fetchDefaults,
  fetchParameters,
  fetchVersion,
  type Inspection,
  inspect,
  isEnterprise,
} from './inspect.js';
export { connect, type Instance, withInstance } from './instance.js';
export { InstanceError, type InstanceErrorCode, type InstanceErrorDetails } from './instance-error.js';
export { listAllObjects } from './list-objects.js';
export { listInstances } from './named-instances.js';
export type { Rejection, Reply } from './reply.js';
export { DEFAULT_REQUEST_BUFFER, encodeQuery, toRequestText } from './request.js';
export { resolveInstance } from './resolve.js';
export { fetchStatements } from './statements.js';
export { SymbolCapacities, USUAL_SYMBOL_CAPACITY } from './symbol-capacities.js';
export { type WaitOptions, waitUntilReady } from './wait.js';
