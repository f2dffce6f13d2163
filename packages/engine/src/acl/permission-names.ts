/*! The permissions that can be granted: the documented ones, and those for statements on views. */

const permissions = new Set([
  ...['ALL', 'DATABASE ADMIN', 'HTTP', 'ILP', 'PGWIRE', 'SELECT', 'INSERT', 'UPDATE', 'SETTINGS', 'SNAPSHOT'],
  ...['SQL ENGINE ADMIN', 'SYSTEM ADMIN', 'BACKUP DATABASE', 'CANCEL ANY COPY'],
  ...['CREATE', 'DROP', 'RENAME', 'TRUNCATE', 'VACUUM'].map(verb => `${verb} TABLE`),
  ...['CREATE', 'ALTER', 'DROP'].flatMap(verb => [`${verb} VIEW`, `${verb} MATERIALIZED VIEW`]),
  ...['COMPILE VIEW', 'REFRESH MATERIALIZED VIEW', 'CREATE LIVE VIEW', 'DROP LIVE VIEW'],
  ...['ADD COLUMN', 'DROP COLUMN', 'RENAME COLUMN', 'ALTER COLUMN CACHE', 'ALTER COLUMN TYPE'],
  ...['ADD INDEX', 'DROP INDEX', 'REINDEX', 'ALTER SYMBOL CAPACITY'],
  ...['ATTACH PARTITION', 'DETACH PARTITION', 'DROP PARTITION', 'DEDUP ENABLE', 'DEDUP DISABLE'],
  ...['SET TABLE PARAM', 'SET TABLE TYPE', 'SET TABLE FORMAT', 'RESUME WAL'],
  ...['CONVERT PARTITION TO PARQUET', 'CONVERT PARTITION TO NATIVE'],
  ...['SET', 'REMOVE', 'ENABLE', 'DISABLE'].map(verb => `${verb} STORAGE POLICY`),
  ...['CREATE', 'DROP'].flatMap(verb =>
    ['USER', 'GROUP', 'SERVICE ACCOUNT', 'JWK', 'REST TOKEN'].map(what => `${verb} ${what}`),
  ),
  ...['ADD', 'REMOVE'].flatMap(verb => ['USER', 'PASSWORD', 'EXTERNAL ALIAS'].map(what => `${verb} ${what}`)),
  ...['ENABLE USER', 'DISABLE USER', 'LIST USERS', 'USER DETAILS'],
]);

export const isPermission = (name: string): boolean => permissions.has(name);
