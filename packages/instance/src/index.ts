/*!
 * One instance over HTTP: its address, its credentials, its rows, its dump, executing statements, and every way that it
 * can fail.
 */
export { fetchPrincipals, fetchRights, fetchRightsOf, hasCredentials } from './access-control.js';
export { BestEffortClient } from './best-effort-client.js';
export type { ConnectionConfig, ResolvedInstance } from './connection-config.js';
export type { Credentials } from './credentials.js';
export { fetchCommonDefaults, fetchDefaults } from './defaults.js';
export { fetchDefinitions } from './definitions.js';
export { type DumpOptions, dump } from './dump.js';
export { fetchHealth, fetchViewColumns, queryIfAccepted } from './fetch-health.js';
export { type Inspection, inspect } from './inspect.js';
export { connect, type Instance, withInstance } from './instance.js';
export { InstanceError, type InstanceErrorCode, type InstanceErrorDetails } from './instance-error.js';
export { listAllObjects, type ObjectName } from './list-objects.js';
export { listInstances } from './named-instances.js';
export {
  fetchRefreshState,
  fetchSettledState,
  fetchWalState,
  isChangeOfBase,
  type RefreshState,
  type WalState,
} from './refreshes.js';
export type { Rejection, Reply } from './reply.js';
export { DEFAULT_REQUEST_BUFFER, encodeQuery, toRequestText } from './request.js';
export { resolveInstance } from './resolve.js';
export type { InstanceOptions, ResolveContext } from './resolve-context.js';
export { fetchVersion, isEnterprise } from './server-version.js';
export type { Setting } from './settings.js';
export { SymbolCapacities, USUAL_SYMBOL_CAPACITY } from './symbol-capacities.js';
export { type WaitOptions, waitUntilReady } from './wait.js';
