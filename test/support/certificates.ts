/*! Creates certificates with openssl, as a company does: a root, an intermediate authority, and servers below it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of an https server; `cert` contains the certificate of the intermediate authority too. */
export interface Identity {
  key: string;
  cert: string;
}

export interface Authority {
  root: string;
  /** Issues a server's certificate for names (`DNS:localhost,IP:127.0.0.1`): valid for one day, or expired yesterday. */
  issue(names: string, options?: { expired?: boolean }): Identity;
}

export function certificateAuthority(folder: string): Authority {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const extensions = (name: string, lines: string) => writeFileSync(at(name), lines);
  const request = (name: string, subject: string) =>
    openssl('req', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${subject}`);
  const sign = (name: string, by: string, extfile: string, ...validity: string[]) =>
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', extfile],
      ...['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial', ...validity],
    );

  extensions('authority.ext', 'basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign,cRLSign\n');
  const root = ['-keyout', 'root.key', '-out', 'root.pem', '-subj', '/CN=Test Root', '-days', '2'];
  openssl('req', '-x509', ...NEW_KEY, ...root);
  request('middle', 'Test Intermediate');
  sign('middle', 'root', 'authority.ext', '-days', '2');

  let issued = 0;
  return {
    root: at('root.pem'),
    issue(names, { expired = false } = {}) {
      const name = `server${++issued}`;
      extensions(`${name}.ext`, `basicConstraints=CA:false\nsubjectAltName=${names}\n`);
      request(name, 'a server');
      sign(name, 'middle', `${name}.ext`, '-days', expired ? '-1' : '1');
      const pem = (file: string) => readFileSync(at(file), 'utf8');
      return { key: pem(`${name}.key`), cert: pem(`${name}.pem`) + pem('middle.pem') };
    },
  };
}

export function selfSigned(folder: string): Identity {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', 'self.key', '-out', 'self.pem'];
  execFileSync('openssl', ['req', '-x509', ...NEW_KEY, ...files, ...subject], { cwd: folder, stdio: 'pipe' });
  const pem = (file: string) => readFileSync(join(folder, file), 'utf8');
  return { key: pem('self.key'), cert: pem('self.pem') };
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
