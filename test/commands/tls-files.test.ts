import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Certificates, createCertificates, hasOpenssl, withoutOpenssl } from '../api/certificates.ts';
import { startDaemon } from '../support/daemon.ts';
import { runHere } from './run-cli.ts';

let certificates: Certificates | undefined;
beforeAll(() => {
  if (!hasOpenssl) return;
  certificates = createCertificates();
  certificates.makeSelfSigned('one', '/CN=one');
  certificates.makeSelfSigned('two', '/CN=two');
});
afterAll(() => certificates?.remove());

/** Configures a server with a wrong key, and a server with an invalid authority. */
function toYaml(tokenFile: string, folder: string): string {
  return `servers:
  - { name: a, url: https://127.0.0.1:9, token_file: ${tokenFile}, tls: { cert_file: ${folder}/one.pem, key_file: ${folder}/two.key } }
  - { name: b, url: https://127.0.0.1:8, token_file: ${tokenFile}, tls: { ca_file: ${folder}/one.key } }
`;
}

describe.skipIf(!hasOpenssl)(`commands, with TLS files that cannot be used${withoutOpenssl}`, () => {
  it.each([[['serve', '--config.check']], [['check']], [['serve']]])(
    'complains about all unusable TLS files: %j',
    async (words) => {
      const folder = certificates?.folder ?? '';
      const files = { 'config.yaml': toYaml('./token', folder), token: 'k3y' };
      const { code, stdout, stderr } = await runHere([...words, '--config.file=config.yaml'], { files });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr.replaceAll(folder, '').split('\n')).toEqual([
        expect.stringMatching(
          /^config.yaml:2:\d+ servers\[0\].tls.key_file: the file "\/two.key" contains a key that does not belong to the certificate in tls.cert_file$/,
        ),
        expect.stringMatching(
          /^config.yaml:3:\d+ servers\[1\].tls.ca_file: the file "\/one.key" contains no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----$/,
        ),
        '',
      ]);
    },
  );

  it.each([[['serve', '--config.check']], [['serve']]])(
    'complains about unusable TLS files of the trace backend: %j',
    async (words) => {
      const folder = certificates?.folder ?? '';
      const files = { 'config.yaml': "servers: [{ url: 'http://127.0.0.1:9', token_file: token }]\n", token: 'k3y' };
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:9',
        OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: `${folder}/nothing.pem`,
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: `${folder}/one.pem`,
        OTEL_EXPORTER_OTLP_CLIENT_KEY: `${folder}/two.key`,
      };
      const { code, stdout, stderr } = await runHere([...words, '--config.file=config.yaml'], { files, env });
      expect({ code, stdout, stderr: stderr.replaceAll(folder, '') }).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: the file "/nothing.pem" cannot be read (ENOENT)\n' +
          'OTEL_EXPORTER_OTLP_CLIENT_KEY: the file "/two.key" contains a key that does not belong to the certificate in OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE\n',
      });
    },
  );

  it.each([[['serve', '--config.check']], [['serve']]])(
    'complains about TLS files of pushed metrics: %j',
    async (words) => {
      const files = { 'config.yaml': "servers: [{ url: 'http://127.0.0.1:9', token_file: token }]\n", token: 'k3y' };
      const env = { OTEL_METRICS_EXPORTER: 'OTLP', OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: '/nothing.pem' };
      expect(await runHere([...words, '--config.file=config.yaml'], { files, env })).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: the file "/nothing.pem" cannot be read (ENOENT)\n',
      });
    },
  );

  it('keeps the running configuration if a reload finds unusable TLS files', async () => {
    const folder = certificates?.folder ?? '';
    const yaml = "servers: [{ name: a, url: 'https://127.0.0.1:9', token_file: TOKEN }]\n";
    const daemon = await startDaemon({ yaml, token: 'k3y' });
    onTestFinished(() => daemon.stop());
    await expect(daemon.load(toYaml('TOKEN', folder))).rejects.toThrow(
      /contains a key that does not belong[^]*no certificate/,
    );
    expect(await daemon.metrics()).toContain('automation_exporter_config_last_reload_successful 1');
  });
});
