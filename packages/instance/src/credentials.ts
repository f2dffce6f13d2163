/*!
 * Which credentials belong to an instance. Sources are read in order, from the most specific to the most general; the
 * first that has something decides between a password and a token.
 */
import { escapeControls } from '@sqlpipe/sql';
import { InstanceError } from './instance-error.js';
import type { Setting } from './settings.js';

/** Some or all of what a source knows. */
export interface Credentials {
  user?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
}

/** Read only when the sources before it were not sufficient. */
export interface CredentialSource {
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
 * The value of the Authorization header and its account, or undefined where no source has credentials.
 *
 * A user of one source goes with the password of a later one (`--user` with `SQLDUMP_PASSWORD`), but never with the
 * password that a later source gives to another user. Throws `CONFIG` for what does not fit together.
 *
 * @param help what to do where half of them is missing, in a sentence
 */
export async function resolveAuthorization(
  sources: readonly CredentialSource[],
  help: string,
): Promise<Authorization | undefined> {
  let user: string | undefined;
  let userSource: CredentialSource | undefined;
  let password: string | undefined;
  let passwordSource: CredentialSource | undefined;
  for (const source of sources) {
    const found = await source.read(user);
    if (found.token !== undefined) {
      if (found.user !== undefined || found.password !== undefined) throw conflictError(source.name);
      if (user === undefined && password === undefined)
        return {
          header: bearerHeader(found.token, source.name),
          account: `a token (${source.name})`,
          settings: [{ name: 'token', value: HIDDEN, source: placeOf(source, 'token') }],
        };
      continue;
    }
    if (user !== undefined && found.user !== undefined && found.user !== user) continue;
    if (user === undefined && found.user !== undefined) [user, userSource] = [found.user, source];
    if (user?.includes(':')) throw colonInUserError();
    if (password === undefined && found.password !== undefined) [password, passwordSource] = [found.password, source];
    if (user !== undefined && userSource && password !== undefined && passwordSource)
      return {
        header: basicHeader(user, password),
        account: describeAccount(user, userSource),
        settings: [
          { name: 'user', value: isUserShown(userSource) ? user : HIDDEN, source: placeOf(userSource, 'user') },
          { name: 'password', value: HIDDEN, source: placeOf(passwordSource, 'password') },
        ],
      };
  }
  // The user is not shown: in an address it may be a token.
  if (user !== undefined) throw new InstanceError('CONFIG', `a user is given, but no password; ${help}`);
  if (password !== undefined) throw new InstanceError('CONFIG', `a password is given, but no user; ${help}`);
  return undefined;
}

const describeAccount = (user: string, source: CredentialSource): string =>
  isUserShown(source) ? `user '${escapeControls(user)}' (${placeOf(source, 'user')})` : `the user in ${ADDRESS_SOURCE}`;

/** In an address a token may be in the place of the user. */
const isUserShown = (source: CredentialSource): boolean => source.name !== ADDRESS_SOURCE;

const placeOf = ({ name, places }: CredentialSource, value: keyof Credentials): string => places?.[value] ?? name;

/** What is shown in the place of a secret. */
const HIDDEN = '***';

/** The source whose user is not shown. */
export const ADDRESS_SOURCE = 'the address';

/** It may be `user:password`, so the message does not show it. */
const colonInUserError = (): InstanceError =>
  new InstanceError(
    'CONFIG',
    'a user name cannot contain a ":"; give the password separately, as with --password-file',
  );

function basicHeader(user: string, password: string): string {
  // The server reads UTF-8 (observed on 9.3.4), and only "Basic" written so.
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function bearerHeader(token: string, source: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new InstanceError(
      'CONFIG',
      `the token from ${source} contains blanks, control characters or non-ASCII characters; is it the token and nothing else?`,
    );
  return `Bearer ${token}`;
}

function conflictError(source: string): InstanceError {
  return new InstanceError('CONFIG', `${source} has both a token and a user or password; remove one of them`);
}
