/*! What to do about rejections that the edition of the server, or a lack of rights, explains. */
import type { Outcome } from '@sqlpipe/replay';
import { isAcl } from '@sqlpipe/sql';

/** What the open source edition says of access control: it knows none of the words (observed on 9.3.4). */
const NO_ACCESS_CONTROL = /'atomic' or 'table'|\bsuch as "|unexpected token \[(?:SERVICE|ACCOUNT)\]/i;

const ACCESS_CONTROL = 'the open source edition has no access control; sqltr --to open-source --lossy removes it';

/** What it says of clauses that only the enterprise edition knows (observed on 9.3.4). */
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

/** One hint for a rejected statement; undefined where nothing is known to help. */
export function hintFor({ identity: { kind }, error = '', denied }: Outcome): string | undefined {
  if (!isAcl(kind)) return CLAUSES.find(([message]) => message.test(error))?.[1];
  if (denied) return 'access control requires permissions of its own; sqldump --include SCHEMA leaves it out';
  return NO_ACCESS_CONTROL.test(error) ? ACCESS_CONTROL : undefined;
}
