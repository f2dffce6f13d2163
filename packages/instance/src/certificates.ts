/*! The certificate authorities of a file. */
import { readFile } from 'node:fs/promises';
import { InstanceError } from './instance-error.js';
import { readError } from './secret-file.js';

/** The certificates in a file, as PEM. @throws InstanceError */
export async function readCertificates(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw readError('the certificates', path, error);
  }
  await checkCertificates(text, path);
  return text;
}

/** Rejects certificates that Node cannot read: Node would ignore them, and trust no server. */
async function checkCertificates(text: string, path: string): Promise<void> {
  const { X509Certificate } = await import('node:crypto'); // few runs need it
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g) ?? [];
  if (!blocks.length)
    throw new InstanceError(
      'CONFIG',
      `${path} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----); openssl x509 -inform der converts from DER`,
    );
  blocks.forEach((block, i) => {
    try {
      new X509Certificate(block);
    } catch {
      throw new InstanceError('CONFIG', `${path}: certificate ${i + 1} is damaged; get the file again`);
    }
  });
}
