import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';

describe('end-to-end/catalogue', () => {
  it('sends only the GET requests of its collectors', async () => {
    const simulator = await startSimulator({ apiVersion: 47 });
    const daemon = startCli(['serve', '--web.listen-address=127.0.0.1:0', '--state.memory'], {
      env: {
        AUTOMATION_EXPORTER_URL: simulator.url,
        AUTOMATION_EXPORTER_TOKEN: simulator.token,
        // Traces are off, because they also request steps and logs.
        AUTOMATION_EXPORTER_TRACES_ENABLED: 'off',
        AUTOMATION_EXPORTER_DIAGNOSIS_ENABLED: 'false',
        ...Object.fromEntries(
          collectors.flatMap(({ name }) => {
            const option = `AUTOMATION_EXPORTER_COLLECTOR_${name.replaceAll('-', '_').toUpperCase()}`;
            return [
              [option, 'true'],
              [`${option}_EVERY`, '1s'],
            ];
          }),
        ),
      },
    });
    try {
      await daemon.waitFor(/msg=serving/);
      await eventually(async () => {
        const silent = collectors.filter(({ reads }) => !simulator.requests().some((asked) => isOneOf(reads, asked)));
        expect(silent.map(({ name }) => name)).toEqual([]);
      });
    } finally {
      await daemon.stop();
      await simulator.stop();
    }

    const allowed = collectors.flatMap(({ reads }) => reads);
    const others = simulator.requests().filter((asked) => !isOneOf(allowed, asked));
    expect(others.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('posts only the login form', () => {
    const src = fileURLToPath(new URL('../../src', import.meta.url));
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('simulator'),
    );
    const posting = files.filter((file) => readFileSync(join(src, file), 'utf8').includes('.postForm('));

    // Only the session needs POST; the requester and self-tracing pass the call on.
    expect(posting.toSorted()).toEqual(['api/auth/session.ts', 'api/requester.ts', 'daemon/self-tracing.ts']);
  });
});

type Asked = { readonly method: string; readonly path: string };

function isOneOf(endpoints: readonly { readonly path: string }[], { method, path }: Asked): boolean {
  return endpoints.some((endpoint) => {
    // A folder may contain slashes; every other placeholder is one segment.
    const pattern = endpoint.path.replace('{folder}', '.+').replaceAll(/\{\w+\}/g, '[^/]+');
    return method === 'GET' && new RegExp(`^/api/47/${pattern}$`).test(path);
  });
}
