/*! Which users and service accounts can not log in: a dump never carries credentials. */

import { quotePrincipal } from '@sqlpipe/ddl';
import { Aside, hasCredentials, type Target } from '@sqlpipe/instance';
import { foldCase, type Identity, quoteLiteral } from '@sqlpipe/sql';
import type { Outcome, Result } from './outcome.js';

/** Each is a request; of those beyond, nothing is known but what the statements say. */
const MAX_QUESTIONS = 200;

/** Whether one of the name is there afterwards. */
const IS_THERE: ReadonlySet<Result> = new Set(['applied', 'skipped']);

/** The users and service accounts of a stream. */
export class LoginCheck {
  readonly #target: Target;
  /** By folded name, and whether they were created without credentials now. */
  readonly #found = new Map<string, { identity: Identity; isNew: boolean }>();

  constructor(target: Target) {
    this.#target = target;
  }

  count({ result, identity, statement }: Outcome): void {
    if ((identity.kind !== 'user' && identity.kind !== 'service-account') || !IS_THERE.has(result)) return;
    const isNew = result === 'applied' && !/\bWITH\s+(PASSWORD|JWK)\b/i.test(statement);
    this.#found.set(foldCase(identity.name), { identity, isNew });
  }

  /**
   * A line for each that can not log in, as the target says, or where it does not, as was created now. Never fails.
   * @param canAsk whether the target is to be asked
   */
  async messages(canAsk: boolean): Promise<string[]> {
    if (this.#found.size === 0) return [];
    const aside = new Aside(this.#target);
    const lacking: string[] = [];
    let questions = 0;
    let isSilent = !canAsk;
    try {
      for (const { identity, isNew } of this.#found.values()) {
        const what: string = identity.kind === 'user' ? 'USER' : 'SERVICE ACCOUNT';
        isSilent ||= questions++ === MAX_QUESTIONS;
        const rows: unknown[][] | undefined = isSilent
          ? undefined
          : await aside.table(`SHOW ${what} ${quotePrincipal(identity.name)}`);
        isSilent ||= rows === undefined;
        if (rows ? !hasCredentials(rows) : isNew) lacking.push(advice(identity));
      }
    } finally {
      await aside.close();
    }
    return lacking;
  }
}

const advice = ({ kind, name }: Identity): string =>
  kind === 'user'
    ? `user '${name}' can not log in yet: ALTER USER ${quoteLiteral(name)} WITH PASSWORD '…';`
    : `service account '${name}' can not log in yet: ALTER SERVICE ACCOUNT ${quoteLiteral(name)} CREATE TOKEN TYPE REST WITH TTL '…';`;
