/*!
 * Which credentials belong to an instance. Sources are read in order, from the most specific to the most general; the
 * first that has something decides between a password and a token.
 */
import { escapeControls } from '@sqlpipe/sql';
import { InstanceError } from './instance-error.js';

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
  /** What gives the user, for messages, where that is not the name. */
  userName?: string;
  /** `user` is the one settled so far, for sources that know several. */
  read(user?: string): Promise<Credentials> | Credentials;
}

/** Credentials that were found. */
export interface Authorization {
  /** The value of the Authorization header: a secret. */
  header: string;
  /** Whose they are and where they come from, without a secret: `user 'ann' (SQLDUMP_USER)`. */
  account: string;
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
  for (const source of sources) {
    const found = await source.read(user);
    if (found.token !== undefined) {
      if (found.user !== undefined || found.password !== undefined) throw conflictError(source.name);
      if (user === undefined && password === undefined)
        return { header: bearerHeader(found.token, source.name), account: `a token (${source.name})` };
      continue;
    }
    if (user !== undefined && found.user !== undefined && found.user !== user) continue;
    if (user === undefined && found.user !== undefined) [user, userSource] = [found.user, source];
    if (user?.includes(':')) throw colonInUserError();
    password ??= found.password;
    if (user !== undefined && password !== undefined)
      return { header: basicHeader(user, password), account: describeAccount(user, userSource) };
  }
  // The user is not shown: in an address it may be a token.
  if (user !== undefined) throw new InstanceError('CONFIG', `a user is given, but no password; ${help}`);
  if (password !== undefined) throw new InstanceError('CONFIG', `a password is given, but no user; ${help}`);
  return undefined;
}

/** In an address a token may be in the place of the user. */
function describeAccount(user: string, source: CredentialSource | undefined): string {
  if (source?.name === ADDRESS_SOURCE) return `the user in ${ADDRESS_SOURCE}`;
  return `user '${escapeControls(user)}' (${source?.userName ?? source?.name})`;
}

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
