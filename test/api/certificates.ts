import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
/** The suffix of the name of skipped tests. */
export const withoutOpenssl = hasOpenssl ? '' : ' (not installed: openssl)';

export type Certificates = ReturnType<typeof createCertificates>;

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A folder of keys and certificates, created for these tests and removed after them. */
export function createCertificates() {
  const folder = mkdtempSync(join(tmpdir(), 'tls-test-'));
  const openssl = (parameters: readonly string[]): void => {
    execFileSync('openssl', parameters, { cwd: folder, stdio: 'ignore' });
  };
  return {
    folder,
    /** Makes the certificate of an authority, or a self-signed certificate for this host. */
    makeSelfSigned: (name: string, subject: string) => {
      const names = name === 'ca' ? [] : ['-addext', 'subjectAltName=IP:127.0.0.1'];
      const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
      openssl(['req', '-x509', ...newKey, ...files, '-subj', subject, '-days', '2', ...names]);
    },
    /**
     * Makes a certificate signed by the authority `ca`; with less than one day of validity, the certificate has already
     * expired.
     */
    makeSigned: (name: string, altName: string, days: number) => {
      openssl(['req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`]);
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${altName}\n`);
      const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
      const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`];
      openssl(['x509', '-req', ...files, ...authority, '-days', String(days)]);
    },
    pem: (file: string) => readFileSync(join(folder, file), 'utf8'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
