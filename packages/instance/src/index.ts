/*! One instance over HTTP: its address, credentials, rows and dump, the execution of statements, and every failure. */

export { hasAddressSyntax, hasPathSyntax } from './configuration/address.js';
export type { ConnectionConfig, ConnectionOptions, ResolveContext } from './configuration/connection-config.js';
export { listInstances } from './configuration/named-instances.js';
export { resolveInstance } from './configuration/resolve-instance.js';
export { type DumpOptions, dump } from './dump/dump.js';
export { fetchGrants, fetchPrincipals, fetchRights, fetchRightsOf, hasCredentials } from './dump/fetch-acl.js';
export { fetchAllObjects, fetchIds } from './dump/fetch-objects.js';
export { fetchStatements } from './dump/fetch-statements.js';
export { SymbolCapacities } from './dump/symbol-capacities.js';
export { type Client, connect, withClient } from './http/client.js';
export { BestEffortClient, tryIfAccepted, tryQuery } from './http/optional-queries.js';
export type { Rejection, Reply } from './http/reply.js';
export { encodeQuery, MAX_PER_REQUEST, toRequestText } from './http/request.js';
export { InstanceError } from './instance-error.js';
export { fetchHealth, fetchViewColumns } from './reports/health.js';
export { fetchHiddenDifferences } from './reports/hidden-properties.js';
export * from './reports/instance-facts.js';
export * from './reports/view-state.js';
export { waitUntilReady } from './wait.js';
