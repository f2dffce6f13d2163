/*! Names of users, groups and service accounts. */
export { parseEntityName } from '@sqlpipe/ddl/grammar';
