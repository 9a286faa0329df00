import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';

const paths = [
  '/metrics',
  '/config',
  '/traces',
  '/api/status',
  '/alerts/rules.yaml',
  '/runbooks/AutomationServiceDown',
  '/-/healthy',
];

describe('http/routes', () => {
  let daemon: Daemon;
  beforeAll(async () => {
    const yaml = "servers: [{ name: prod, url: 'http://127.0.0.1:1', token_file: TOKEN }]\n";
    daemon = await startDaemon({ yaml, token: 'token-of-nobody' });
  });
  afterAll(() => daemon.stop());

  async function ask(path: string): Promise<number> {
    return (await fetch(`${daemon.url}${path}`, { redirect: 'manual' })).status;
  }

  it.each(paths)('responds only at the exact path %s', async (path) => {
    const others = [path.toUpperCase(), `${path}/`, `/${path}`, `${path}%2f`, path.replace(/\w/, toEncoded)];
    const changed = others.filter((other) => other !== path);
    expect([await ask(path), ...(await Promise.all(changed.map(ask)))]).toEqual([200, ...changed.map(() => 404)]);
  });

  it.each(['/dashboards', '/dashboards/', '/runbooks', '/runbooks/', '/'])('serves a page at %s', async (path) => {
    expect(await ask(path)).toBe(200);
  });
});

function toEncoded(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}
