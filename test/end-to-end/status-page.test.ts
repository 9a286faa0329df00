import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Demo, startDemo } from './start-demo.ts';

let demo: Demo | undefined;

afterEach(() => demo?.stop());

const often = ['system-info', 'execution-mode', 'healthcheck', 'log-storage', 'executions'].map(
  (name) => `--collector.${name}.every=1s`,
);

async function turn(simulatorUrl: string, control: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(`${simulatorUrl}/simulator/${control}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect({ control, status: Math.floor(status / 100) }).toEqual({ control, status: 2 });
}

type Told = {
  readonly problems: readonly { readonly kind: string; readonly title: string }[];
  readonly servers: readonly { readonly state: string }[];
};

async function ask(url: string): Promise<Told> {
  // This cast is safe: the tests use only fields that the response contains.
  return (await (await fetch(`${url}/api/status`)).json()) as Told;
}

/** The problems of the server, without problems of jobs, because some jobs of the demo fail. */
async function complaints(url: string): Promise<readonly string[]> {
  const { problems } = await ask(url);
  const ofServer = problems.filter(({ kind }) => /passive|unwell/.test(kind));
  return ofServer.map(({ kind, title }) => `${kind}: ${title}`);
}

describe('end-to-end/status-page', () => {
  it('shows the problems that the service reports', async () => {
    demo = await startDemo({ flags: often });
    const { url, simulatorUrl } = demo;
    await eventually(async () => expect(await ask(url)).toMatchObject({ servers: [{ state: 'up' }] }));
    expect(await complaints(url)).toEqual([]);

    await turn(simulatorUrl, 'health-check', { failing: 'dataSource.connection.time' });
    await turn(simulatorUrl, 'execution-mode', { mode: 'passive' });
    await eventually(async () => {
      expect(await complaints(url)).toEqual([
        'passive: "demo" is passive and runs nothing',
        'unwell: "demo": health check dataSource.connection.time fails',
      ]);
    });

    await turn(simulatorUrl, 'health-check', { failing: null });
    await turn(simulatorUrl, 'execution-mode', { mode: 'active' });
    await eventually(async () => expect(await complaints(url)).toEqual(['was_passive: "demo" was passive']));
  });

  it('shows the same state of the service as its metrics', async () => {
    demo = await startDemo({ flags: often });
    const { url, simulatorUrl } = demo;
    const told = async () => {
      const scraped = await (await fetch(`${url}/metrics?collect[]=exporter`)).text();
      const { servers } = await ask(url);
      return {
        state: servers[0]?.state,
        up: /^automation_up\{.*\} (.*)$/m.exec(scraped)?.[1],
        accepted: /^automation_credentials_accepted\{.*\} (.*)$/m.exec(scraped)?.[1],
      };
    };
    await eventually(async () => expect(await told()).toEqual({ state: 'up', up: '1', accepted: '1' }));

    await turn(simulatorUrl, 'token/expire', { token: 'demo-token-that-opens-nothing-real' });
    await eventually(async () => expect(await told()).toEqual({ state: 'refused', up: '0', accepted: '0' }));

    await turn(simulatorUrl, 'restart', { downForMs: 60_000 });
    await eventually(async () => expect(await told()).toEqual({ state: 'down', up: '0', accepted: undefined }));
  });
});
