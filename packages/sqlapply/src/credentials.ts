import { quoteLiteral } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/** What a user or service account that was made still lacks, as a dump never carries credentials; undefined for all else. */
export function missingCredentials({ result, identity: { kind, name }, statement }: Outcome): string | undefined {
  if (result !== 'applied' || /\bWITH\s+(PASSWORD|JWK)\b/i.test(statement)) return undefined;
  if (kind === 'user') return `user '${name}' can not log in yet: ALTER USER ${quoteLiteral(name)} WITH PASSWORD '…';`;
  if (kind === 'service-account')
    return `service account '${name}' can not log in yet: ALTER SERVICE ACCOUNT ${quoteLiteral(name)} CREATE TOKEN TYPE REST WITH TTL '…';`;
  return undefined;
}
