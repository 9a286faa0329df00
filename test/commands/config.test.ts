import { describe, expect, it } from 'vitest';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { runHere } from './run-cli.ts';

const token = 'a-token-that-nobody-shows';
const files = {
  token: `${token}\n`,
  'config.yaml': `servers:
  - { name: prod, url: 'https://automation.example.org/base/', token_file: ./token, timeout: 90s }
  - { name: test, url: 'http://127.0.0.1:9', token_file: ./token, dialect: service, api_version: 41 }
collectors: { healthcheck: { enabled: false }, log-storage: { every: 60s } }
state: { dir: /var/lib/automation-exporter }
`,
};

describe('commands/config', () => {
  it('prints the configuration from all sources as a file that loads again', async () => {
    const first = await runHere(['config', '--config.file=config.yaml', '--log.format=json'], {
      files,
      env: { AUTOMATION_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:9999' },
    });

    expect({ ...first, stdout: '' }).toEqual({ code: 0, stdout: '', stderr: '', left: [] });
    for (const lines of [
      '  - name: prod\n    url: https://automation.example.org/base\n    token_file: ./token\n',
      '    timeout: 1m30s\n',
      '  - name: test\n    url: http://127.0.0.1:9\n    token_file: ./token\n    dialect: service\n    api_version: 41\n    timeout: 10s\n',
      '  healthcheck:\n    enabled: false\n    every: 30s\n',
      '  log-storage:\n    enabled: true\n    every: 1m\n',
      'web:\n  listen_address: 127.0.0.1:9999\n',
      'log:\n  level: info\n  format: json\n',
      'state:\n  dir: /var/lib/automation-exporter\n',
    ]) {
      expect(first.stdout).toContain(lines);
    }
    const again = await runHere(['config', '--config.file=printed.yaml'], {
      files: { ...files, 'printed.yaml': first.stdout },
    });
    expect(again).toEqual(first);
  });

  it('masks a secret of the environment', async () => {
    const env = { AUTOMATION_EXPORTER_URL: 'http://127.0.0.1:9', AUTOMATION_EXPORTER_TOKEN: token };
    const { code, stdout, stderr } = await runHere(['config'], { env });

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('    # token: <secret> from AUTOMATION_EXPORTER_TOKEN\n');
    expect(stdout).not.toContain(token.slice(0, 6));
  });

  it('prints a JSON Schema with every section and every collector', async () => {
    const { code, stdout, stderr } = await runHere(['config', '--schema']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const schema = JSON.parse(stdout) as {
      readonly $schema: string;
      readonly additionalProperties: boolean;
      readonly properties: Readonly<Record<string, { readonly properties?: object }>>;
    };
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema.additionalProperties).toBe(false);
    expect(Object.keys(schema.properties)).toEqual([
      'servers',
      'collectors',
      'web',
      'jobs',
      'executions',
      'schedule',
      'diagnosis',
      'alerts',
      'traces',
      'metrics',
      'log',
      'state',
    ]);
    expect(Object.keys(schema.properties['collectors']?.properties ?? {})).toEqual(collectors.map(({ name }) => name));
  });
});
