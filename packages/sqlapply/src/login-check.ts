/*! Finds the users and service accounts that cannot log in: a dump never contains credentials. */
import { parsePrincipal, quoteAclName } from '@sqlpipe/ddl';
import { BestEffortClient, type ConnectionConfig, hasCredentials } from '@sqlpipe/instance';
import type { Outcome } from '@sqlpipe/replay';
import { type KindAndName, kindKeywords, NameMap, quoteLiteral } from '@sqlpipe/sql';

export class LoginCheck {
  /** By name; `isNew` if the principal was created in this run without credentials. */
  readonly #principals = new NameMap<{ identity: KindAndName; isNew: boolean }>();

  constructor(private readonly config: ConnectionConfig) {}

  recordOutcome({ result, identity, statement }: Outcome): void {
    if (identity.kind !== 'user' && identity.kind !== 'service account') return;
    if (result !== 'applied' && result !== 'skipped') return;
    const isNew = result === 'applied' && parsePrincipal(statement)?.credentials === undefined;
    this.#principals.set(identity.name, { identity, isNew });
  }

  /** A line for each principal that cannot log in, by what the target shows or, if it shows nothing, by the statements. Never fails. */
  async fetchMissingLogins(canAsk: boolean): Promise<string[]> {
    if (this.#principals.size === 0) return [];
    const bestEffort = new BestEffortClient(this.config);
    const lacking: string[] = [];
    let queries = 0;
    let isSilent = !canAsk;
    try {
      for (const { identity, isNew } of this.#principals.values()) {
        isSilent ||= queries++ === 200; // for further principals, only the statements are considered
        const query = `SHOW ${kindKeywords(identity.kind)} ${quoteAclName(identity.name)}`;
        const rows: unknown[][] | undefined = isSilent ? undefined : await bestEffort.queryRows(query);
        isSilent ||= rows === undefined;
        if (rows ? !hasCredentials(rows) : isNew) lacking.push(formatLoginHint(identity));
      }
    } finally {
      await bestEffort.close();
    }
    return lacking;
  }
}

function formatLoginHint({ kind, name }: KindAndName): string {
  const change = kind === 'user' ? "WITH PASSWORD '…'" : "CREATE TOKEN TYPE REST WITH TTL '…'";
  return `${kind} '${name}' cannot log in yet: ALTER ${kindKeywords(kind)} ${quoteLiteral(name)} ${change};`;
}
