/*! Hints for rejections that are caused by the server's edition or by a missing permission. */
import { isAcl } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/** The open source edition's messages for access control, whose keywords it does not know (observed on 9.3.4). */
const NO_ACCESS_CONTROL = /'atomic' or 'table'|\bsuch as "|unexpected token \[(?:SERVICE|ACCOUNT)\]/i;

const ACCESS_CONTROL = 'the open source edition has no access control; sqltr --to open-source --lossy removes it';

/** The open source edition's messages for clauses of the enterprise edition (observed on 9.3.4). */
const CLAUSES: [message: RegExp, hint: string][] = [
  [
    /unexpected token \[storage\]/i,
    'STORAGE POLICY is a clause of the enterprise edition; sqltr --to open-source replaces it by TTL',
  ],
  [
    /unexpected token \[owned\]/i,
    'OWNED BY is a clause of the enterprise edition; remove it with sqltr --to open-source --lossy, or with sqldump --no-owner',
  ],
];

/** A hint for a rejected statement; undefined if none is known. */
export function hintFor({ identity: { kind }, error = '', denied }: Outcome): string | undefined {
  if (!isAcl(kind)) return CLAUSES.find(([message]) => message.test(error))?.[1];
  if (denied) return 'access control requires permissions of its own; sqldump --include SCHEMA leaves it out';
  return NO_ACCESS_CONTROL.test(error) ? ACCESS_CONTROL : undefined;
}
