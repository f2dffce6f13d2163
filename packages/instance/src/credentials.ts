/*!
 * Which credentials belong to an instance. Sources are asked in order, from the most particular to the most general;
 * the first that says anything decides between a password and a token.
 */
import { printable } from '@sqlpipe/sql';
import { InstanceError } from './error.js';
import type { Setting } from './settings.js';

/** Some or all of what a source knows. */
export interface Credentials {
  user?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
}

/** Asked only when the sources before it did not settle the matter. */
export interface Source {
  /** For messages. */
  name: string;
  /** What gives each value, for people, where that is not the name. */
  places?: Partial<Record<keyof Credentials, string>>;
  /** `user` is the one settled so far, for sources that know several. */
  read(user?: string): Promise<Credentials> | Credentials;
}

/** Credentials that were found. */
export interface Authorization {
  /** The value of the Authorization header: a secret. */
  header: string;
  /** Whose they are and where they come from, without a secret: `user 'ann' (SQLDUMP_USER)`. */
  account: string;
  /** The same value by value. */
  settings: Setting[];
}

/**
 * The value of the Authorization header and whose it is, or undefined where no source knows anything.
 *
 * A user of one source goes with the password of a later one (`--user` with `SQLDUMP_PASSWORD`), but never with
 * the password that a later source gives to another user. Throws `CONFIG` for what does not fit together.
 *
 * @param help what to do where half of them is missing, in a sentence
 */
export async function authorization(sources: readonly Source[], help: string): Promise<Authorization | undefined> {
  let user: string | undefined;
  let userSource: Source | undefined;
  let password: string | undefined;
  let passwordSource: Source | undefined;
  for (const source of sources) {
    const found = await source.read(user);
    if (found.token !== undefined) {
      if (found.user !== undefined || found.password !== undefined) throw both(source.name);
      if (user === undefined && password === undefined)
        return {
          header: bearer(found.token, source.name),
          account: `a token (${source.name})`,
          settings: [{ name: 'token', value: HIDDEN, source: placeOf(source, 'token') }],
        };
      continue;
    }
    if (user !== undefined && found.user !== undefined && found.user !== user) continue;
    if (user === undefined && found.user !== undefined) [user, userSource] = [found.user, source];
    if (user?.includes(':')) throw withColon();
    if (password === undefined && found.password !== undefined) [password, passwordSource] = [found.password, source];
    if (user !== undefined && userSource && password !== undefined && passwordSource)
      return {
        header: basic(user, password),
        account: accountOf(user, userSource),
        settings: [
          { name: 'user', value: isShown(userSource) ? user : HIDDEN, source: placeOf(userSource, 'user') },
          { name: 'password', value: HIDDEN, source: placeOf(passwordSource, 'password') },
        ],
      };
  }
  // The user is not shown: in an address a token may stand in that place.
  if (user !== undefined) throw new InstanceError('CONFIG', `there is a user, but no password for it. ${help}`);
  if (password !== undefined)
    throw new InstanceError('CONFIG', `there is a password, but no user it belongs to. ${help}`);
  return undefined;
}

const accountOf = (user: string, source: Source): string =>
  isShown(source) ? `user '${printable(user)}' (${placeOf(source, 'user')})` : `the user in ${ADDRESS}`;

/** In an address a token may stand in the place of the user. */
const isShown = (source: Source): boolean => source.name !== ADDRESS;

const placeOf = ({ name, places }: Source, value: keyof Credentials): string => places?.[value] ?? name;

/** What is shown in the place of a secret. */
const HIDDEN = '***';

/** The source whose user is not shown. */
export const ADDRESS = 'the address';

/** It may be `user:password`, so the message does not show it. */
const withColon = (): InstanceError =>
  new InstanceError(
    'CONFIG',
    'a user name can\'t have a ":" in it, which ends it on the way to the server: a password is given by itself, as in --password-file',
  );

function basic(user: string, password: string): string {
  // The server reads UTF-8 (observed on 9.3.4), and only "Basic" written so.
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function bearer(token: string, source: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new InstanceError(
      'CONFIG',
      `the token from ${source} has blanks, control characters or letters beyond ASCII: is it the token and nothing else?`,
    );
  return `Bearer ${token}`;
}

function both(source: string): InstanceError {
  return new InstanceError('CONFIG', `${source} gives a token and a user or password: leave one of the two out`);
}
