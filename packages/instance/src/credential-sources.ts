/*! Where credentials can come from, beside netrc. */
import type { Address } from './address.js';
import { ADDRESS_SOURCE, type CredentialSource, type Credentials } from './credentials.js';
import type { InstanceEntry } from './instances-file.js';
import { placeOfEntry } from './named-instances.js';
import type { InstanceOptions, ResolveContext } from './resolve-context.js';
import { readSecretLine } from './secret-file.js';
import { runTokenCommand } from './token-command.js';

export const fromCaller = (credentials: Credentials): CredentialSource => ({
  name: 'the options',
  read: () => credentials,
});

export function fromOptions({ user, passwordFile, tokenFile }: InstanceOptions): CredentialSource {
  return {
    name: 'the command line',
    places: { user: '--user', password: '--password-file', token: '--token-file' },
    async read() {
      return {
        user,
        password: passwordFile && (await readSecretLine(passwordFile, '--password-file')),
        token: tokenFile && (await readSecretLine(tokenFile, '--token-file')),
      };
    },
  };
}

export function fromAddress({ user, password, token }: Address, context: ResolveContext): CredentialSource {
  return {
    name: ADDRESS_SOURCE,
    read() {
      if (!context.credentials && (password !== undefined || token !== undefined))
        context.warn(
          'the address contains a secret, which others on this machine can see; use an environment variable instead',
        );
      return { user, password, token };
    },
  };
}

/** Empty variables count as not set. */
export function fromEnvironment(name: string, env: ResolveContext['env']): CredentialSource {
  const prefix = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  return {
    name: `${prefix}_TOKEN`,
    places: { user: `${prefix}_USER`, password: `${prefix}_PASSWORD` },
    read: () => ({
      user: env[`${prefix}_USER`] || undefined,
      password: env[`${prefix}_PASSWORD`] || undefined,
      token: env[`${prefix}_TOKEN`] || undefined,
    }),
  };
}

export function fromEntry(
  { user, password_file, token_file, token_command }: InstanceEntry,
  name: string,
  env: ResolveContext['env'],
  timeout: number,
): CredentialSource {
  const place = placeOfEntry(name, env);
  const tokenKey = token_file === undefined ? 'token_command' : 'token_file';
  return {
    name: `[${name}] in instances.toml`,
    places: { user: place, password: `password_file in ${place}`, token: `${tokenKey} in ${place}` },
    async read() {
      return {
        user,
        password: password_file && (await readSecretLine(password_file, `password_file of ${name}`)),
        token: token_file
          ? await readSecretLine(token_file, `token_file of ${name}`)
          : token_command && (await runTokenCommand(token_command, name, env, timeout)),
      };
    },
  };
}

export function fromPrompt(address: string, { promptSecret, options }: ResolveContext): CredentialSource {
  return {
    name: 'the terminal',
    async read(user) {
      if (user === undefined) return {};
      if (options?.showConfig) return { password: 'whatever the answer is' };
      return { password: (await promptSecret?.(`password of ${user} at ${address}`)) || undefined };
    },
  };
}
