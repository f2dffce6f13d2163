/*! Files with secrets: accepted only if no other user can read them. */
import type { Stats } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { systemErrorReason } from '@sqlpipe/text';
import { configError, InstanceError } from '../instance-error.js';

/** The only line of a file with a secret (UTF-8). @param what the name of the file in messages: `--password-file` */
export async function readSecretLine(path: string, what: string): Promise<string> {
  let file: FileHandle | undefined;
  let secret: string;
  try {
    file = await open(path);
    requirePrivate(await file.stat(), path, what);
    secret = decodeSecret(await file.readFile()).replace(/\r?\n$/, '');
  } catch (error) {
    throw error instanceof InstanceError ? error : readError(what, path, error);
  } finally {
    await file?.close();
  }
  if (secret === '') throw configError(`${what} ${path} is empty; it must contain the secret`);
  if (/[\r\n]/.test(secret))
    throw configError(`${what} ${path} has more than one line; it must contain only the secret`);
  return secret;
}

/** Throws for text that is not UTF-8, because a different secret would be sent. */
export const decodeSecret = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

/** A pipe, such as the shell's `<(…)`, is accepted. @throws InstanceError for a regular file that other users can read */
export function requirePrivate(stats: Stats, path: string, what: string): void {
  if (stats.isFile() && (stats.mode & 0o044) !== 0)
    throw configError(`${what} ${path} can be read by others; run chmod 600 on it`);
}

/** The code is ENOTDIR if the home folder is not a folder (`/dev/null`). */
export const isNotFound = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

export function readError(what: string, path: string, error: unknown): InstanceError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return configError(`${what} ${path} is not UTF-8; iconv converts other encodings`);
  return configError(`cannot read ${what} ${path}: ${systemErrorReason(error)}`);
}

/** The certificates in a file, as PEM. Rejects those that Node cannot read: Node would ignore them, and trust no server. */
export async function readCertificates(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(error => {
    throw readError('the certificates', path, error);
  });
  const { X509Certificate } = await import('node:crypto'); // few runs need it
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g) ?? [];
  if (!blocks.length)
    throw configError(
      `${path} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----); openssl x509 -inform der converts from DER`,
    );
  blocks.forEach((block, i) => {
    try {
      new X509Certificate(block);
    } catch {
      throw configError(`${path}: certificate ${i + 1} is damaged; get the file again`);
    }
  });
  return text;
}
