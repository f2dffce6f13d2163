/*! Faults on this machine: the streams of a program, the disk, and the files that it reads and writes. */
import { cases } from '../cases/cases.js';

export interface LocalFault {
  name: string;
  /**
   * A script for bash. `$SRC` is a server with a schema, which is also in the files `stream` and `schema.sql`, `$BIG` one
   * with a large schema, and `$DST` an empty one. Its output lists files that should not have been left.
   */
  script: string;
  /** The expected exit status. */
  status: number;
  /** The expected message. */
  message: RegExp;
  /** Whether the target has the complete schema afterwards, or nothing of it. The default is true if the status is 0. */
  isApplied: boolean;
}

/** What scripts may call: a record of many MiB, without its NUL, and a stream of 12 MiB, which is spooled to disk. */
const FUNCTIONS = String.raw`
huge() { printf "CREATE TABLE 'a' ("; head -c $1M /dev/zero | tr '\0' x; printf ' INT);\n'; }
large() { for i in {1..12}; do huge 1 | sed "s/'a'/'a$i'/"; printf '\0'; done; }
`;

/** Each has an expected status, `applied` or `not applied` if that does not follow from it, and a message. */
export const localFaults: LocalFault[] = cases('local-faults').map(({ title, input, output }) => {
  const [, status, not, applied, message = '^$'] = /^(\d+)(?: (not )?(applied))?(?:: (.*))?$/.exec(input) ?? [];
  return {
    name: title,
    script: FUNCTIONS + output,
    status: Number(status),
    message: new RegExp(message),
    isApplied: applied === undefined ? status === '0' : not === undefined,
  };
});
