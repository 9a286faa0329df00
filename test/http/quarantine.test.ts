import { describe, expect, it } from 'vitest';
import { quarantineRoutes } from '../../src/http/routes/quarantine.ts';
import type { Elsewhere } from '../../src/status/status.ts';
import { serve } from './serve.ts';
import { quarantine } from './some-status.ts';

type Given = {
  readonly isOn?: boolean;
  readonly isEnabled?: boolean;
  readonly unknown?: readonly string[];
  readonly elsewhere?: readonly Elsewhere[];
};

async function start({ isOn = true, isEnabled = true, unknown = [], elsewhere = [] }: Given = {}) {
  const done: string[] = [];
  const act = (action: string) => async (which: readonly string[] | 'all') => {
    done.push(`${action} ${JSON.stringify(which)}`);
    return unknown.length > 0 ? { unknown } : { traces: which === 'all' ? 7 : which.length };
  };
  const quarantined = { list: async () => [quarantine()], retry: act('retry'), drop: act('drop') };
  const lifecycle = { isEnabled: () => isEnabled, externalUrl: () => 'https://exporter.example.org/here' };
  const { url } = await serve([
    quarantineRoutes({ lifecycle, quarantined: () => (isOn ? quarantined : undefined), elsewhere: () => elsewhere }),
  ]);

  async function post(action: string, body: string | object, headers: Readonly<Record<string, string>> = {}) {
    const isForm = typeof body === 'string';
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const response = await fetch(`${url}/-/quarantine/${action}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': type, ...headers },
      body: isForm ? body : JSON.stringify(body),
    });
    const location = response.headers.get('location');
    return { status: response.status, body: await response.text(), ...(location === null ? {} : { location }) };
  }
  return { url, done, post };
}

describe('http/quarantine', () => {
  it('lists quarantined traces', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/api/quarantine`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      quarantined: [
        {
          key: 'prod/4711',
          server: 'prod',
          execution: 4711,
          spans: 12,
          bytes: 3400,
          quarantined: '2024-05-20T03:07:40.000Z',
          reason: 'HTTP 400: bad span',
        },
      ],
      elsewhere: [],
    });
  });

  it('names the exporters that have the traces of other servers', async () => {
    const watcher = { is: 'other', address: 'http://mon-b:9720', page: undefined } as const;
    const elsewhere = [
      { server: 'a/b', watcher },
      { server: 'lost', watcher: { is: 'nobody' } },
    ] as const;
    const owners = [
      { server: 'a/b', owner: 'http://mon-b:9720' },
      { server: 'lost', owner: null },
    ];
    const { url, post } = await start({ elsewhere });
    expect(await (await fetch(`${url}/api/quarantine`)).json()).toMatchObject({ elsewhere: owners });
    expect(JSON.parse((await post('drop', { all: true })).body)).toEqual({ traces: 7, elsewhere: owners });
    const { post: postUnknown } = await start({ elsewhere, unknown: ['a/b/7'] });
    expect((await postUnknown('retry', { keys: ['a/b/7'] })).body).toBe(
      'Nothing was changed because these are not quarantined: a/b/7. "a/b" is watched by another exporter: http://mon-b:9720, which has no web.external_url of its own\n',
    );
  });

  it('retries or drops named traces, or all traces', async () => {
    const { done, post } = await start();
    expect(await post('retry', { keys: ['prod/4711'] })).toEqual({ status: 200, body: '{"traces":1}' });
    expect(await post('drop', { all: true })).toEqual({ status: 200, body: '{"traces":7,"elsewhere":[]}' });
    expect(done).toEqual(['retry ["prod/4711"]', 'drop "all"']);
  });

  it('redirects a form back to the page', async () => {
    const { done, post } = await start();
    const back = { status: 303, location: '../../traces' };
    expect(await post('retry', 'key=a%2F1')).toMatchObject(back);
    expect(await post('drop', 'key=a%2F1&key=b%2F2')).toMatchObject(back);
    expect(await post('drop', 'all=true')).toMatchObject(back);
    expect(done).toEqual(['retry ["a/1"]', 'drop ["a/1","b/2"]', 'drop "all"']);
  });

  it.each([
    {},
    { keys: [] },
    { keys: 'prod/1' },
    { keys: [1] },
    { keys: [['prod/1']] },
    { all: false },
    { all: true, keys: ['prod/1'] },
    [],
    '',
    'all=true&key=prod%2F1',
    'all=yes',
  ])('changes nothing if the request does not select traces clearly: %j', async (body) => {
    const { done, post } = await start();
    const answer = await post('drop', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatch(/^Name the traces/);
    expect(done).toEqual([]);
  });

  it('changes nothing if the body is endless, broken or of another kind', async () => {
    const { done, post } = await start();
    const statuses = [
      await post('drop', { all: true }, { 'content-type': 'text/plain' }),
      await post('drop', '{"all":', { 'content-type': 'application/json' }),
      await post('drop', { keys: ['x'.repeat(2 ** 20)] }),
    ].map(({ status }) => status);
    expect({ statuses, done }).toEqual({ statuses: [400, 400, 413], done: [] });
  });

  it('names at most a thousand traces that are not quarantined', async () => {
    const unknown = Array.from({ length: 1000 }, (_, index) => `prod/${index}`);
    const { post } = await start({ unknown });
    expect(await post('retry', { keys: unknown })).toEqual({
      status: 404,
      body: 'Nothing was changed because these are not quarantined: prod/0, prod/1, prod/2, prod/3, prod/4, prod/5, prod/6, prod/7, prod/8, prod/9 and 990 more\n',
    });
  });

  it('reports that no traces are made', async () => {
    const { url, post } = await start({ isOn: false });
    const off = 'Traces are off: the page /traces shows how to switch them on.\n';
    expect(await post('retry', { all: true })).toEqual({ status: 409, body: off });
    const listed = await fetch(`${url}/api/quarantine`);
    expect({ status: listed.status, body: await listed.text() }).toEqual({ status: 409, body: off });
  });

  it('changes nothing unless the configuration allows changes', async () => {
    const { done, post } = await start({ isEnabled: false });
    const off = { status: 403, body: 'Off: enable it with --web.enable-lifecycle.\n' };
    expect(await post('retry', { all: true })).toEqual(off);
    expect(await post('drop', { all: true })).toEqual(off);
    expect(done).toEqual([]);
  });

  it('changes nothing for a page of another site', async () => {
    const { done, post } = await start();
    const answer = await post('drop', '{"all":', {
      'sec-fetch-site': 'cross-site',
      'content-type': 'application/json',
    });
    expect(answer).toEqual({
      status: 403,
      body: 'Refused: the request comes from a page of another site. If that site is this exporter, set web.external_url to its address.\n',
    });
    expect((await post('drop', 'all=true', { origin: 'null' })).status).toBe(403);
    expect(done).toEqual([]);
  });

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('changes nothing on %s', async (method) => {
    const { url, done } = await start();
    const { status, headers } = await fetch(`${url}/-/quarantine/drop`, { method });
    expect({ status, allow: headers.get('allow'), done }).toEqual({ status: 405, allow: 'POST', done: [] });
  });
});
