import { describe, expect, it } from 'vitest';
import type { ReloadOutcome } from '../../src/domain/complaint.ts';
import { reloadRoute } from '../../src/http/routes/health.ts';
import type { Asked } from '../../src/http/server/lifecycle.ts';
import { type Served, serve } from './serve.ts';

type Given = { readonly outcome?: ReloadOutcome; readonly isEnabled?: boolean };

async function start({ outcome = { ok: true, warnings: [] }, isEnabled = true }: Given = {}) {
  let reloads = 0;
  const reload = async (): Promise<ReloadOutcome> => {
    reloads += 1;
    return outcome;
  };
  const externalUrl = (): string => 'https://exporter.example.org/here';
  const asked: Asked[] = [];
  const onAsked = (one: Asked): void => void asked.push(one);
  const served = await serve([reloadRoute({ isEnabled: () => isEnabled, reload, externalUrl, onAsked })]);
  return { ...served, reloads: () => reloads, asked };
}

function post({ ask }: Pick<Served, 'ask'>, headers: Readonly<Record<string, string>> = {}) {
  return ask('/-/reload', { method: 'POST', headers });
}

describe('http/reload', () => {
  it('reports which options need a restart', async () => {
    const warnings = ['web.listen_address: takes effect only after a restart'];
    const served = await start({ outcome: { ok: true, warnings } });

    expect(await post(served)).toMatchObject({
      status: 200,
      body: 'reloaded\nweb.listen_address: takes effect only after a restart\n',
    });
    expect(served.reloads()).toBe(1);
  });

  it('logs the address of the request', async () => {
    const served = await start();
    await post(served);
    await post(served, { origin: 'https://evil.example.com' });
    expect(served.asked).toEqual([{ path: '/-/reload', from: '127.0.0.1' }]);
  });

  it('reports every complaint about an invalid configuration', async () => {
    const served = await start({ outcome: { ok: false, complaints: ['config.yaml:3: no such key', 'another'] } });

    expect(await post(served)).toMatchObject({
      status: 500,
      body: 'not reloaded, the previous configuration stays in force:\nconfig.yaml:3: no such key\nanother\n',
    });
  });

  it('says how to enable reloads', async () => {
    const served = await start({ isEnabled: false });

    expect(await post(served)).toMatchObject({
      status: 403,
      body: 'Off: enable it with --web.enable-lifecycle, or send the process a SIGHUP.\n',
    });
    expect(served.reloads()).toBe(0);
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('does nothing on %s', async (method) => {
    const served = await start();
    const { status, headers } = await served.ask('/-/reload', { method });

    expect({ status, allow: headers.allow, reloads: served.reloads() }).toEqual({
      status: 405,
      allow: 'POST',
      reloads: 0,
    });
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://attacker.example.org' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://exporter.example.org' },
    // DNS rebinding: the name of another page now leads to the exporter.
    { 'sec-fetch-site': 'same-origin', host: 'rebound.example.org:9720', origin: 'http://rebound.example.org:9720' },
  ])('refuses a request from a page of another site: %o', async (headers) => {
    const served = await start();
    const { status, body } = await post(served, headers);

    expect({ status, body }).toEqual({
      status: 403,
      body: 'Refused: the request comes from a page of another site. If that site is this exporter, set web.external_url to its address.\n',
    });
    expect(served.reloads()).toBe(0);
  });

  it('admits tools without an Origin header', async () => {
    const served = await start();
    const own = [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', origin: served.url },
      { origin: 'https://exporter.example.org' },
      { host: 'exporter-host:9720', origin: 'http://exporter-host:9720' },
      { host: '[::1]:9720', origin: 'http://[::1]:9720' },
      { host: 'localhost:9720', origin: 'http://localhost:9720' },
    ];
    for (const headers of own) expect(await post(served, headers)).toMatchObject({ status: 200, body: 'reloaded\n' });
  });
});
