import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pickPart } from '../support/all.ts';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { makeSharedFolder } from '../support/folder.ts';
import { type RawServer, startRawServer } from '../support/raw-server.ts';
import { answer, echoes } from './echoes.ts';

/** A secret whose characters are encoded differently in URLs, JSON, HTML and base64. */
const canary = 'kP7/vX+q9"Zt&4=wLm<8>J';
/** The secret of a session. */
const sessionCanary = 'node0s3ss10nQxZ7vK';
/** Real servers return the beginning of a token in their refusals. */
const beginning = canary.slice(0, 6);

const forms: readonly string[] = [canary, beginning, sessionCanary].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  encodeURIComponent(secret).toLowerCase(),
  JSON.stringify(secret).slice(1, -1),
  secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  Buffer.from(secret).toString('hex'),
  // The base64 form of a secret depends on the text around it.
  ...['', 'a', 'ab'].map((before) =>
    Buffer.from(before + secret)
      .toString('base64')
      .slice(before.length === 0 ? 0 : 4, -4),
  ),
]);

/** Describes where a text contains the secret, without quoting the secret. */
function findCanary(text: string): readonly string[] {
  return forms.flatMap((form, index) =>
    form.length >= 6 && text.includes(form)
      ? [`form ${index}: …${text.slice(Math.max(0, text.indexOf(form) - 60), text.indexOf(form))}`]
      : [],
  );
}

function echo(socket: Socket, head: string): void {
  const [, name = ''] = /^GET \/([^/]+)\//.exec(head) ?? [];
  const [, token = ''] = /^(?:x-(?:rundeck|service)-auth-token:|authorization: Bearer) (.*)\r$/im.exec(head) ?? [];
  socket.end(echoes[name]?.(token) ?? '');
}

const directory = makeSharedFolder();
let upstream: RawServer;

beforeAll(async () => {
  upstream = await startRawServer(echo);
  writeFileSync(join(directory, 'token'), `${canary}\n`, { mode: 0o600 });
  writeConfig('config', upstream.url, Object.keys(echoes), 'token_file: ./token');
});

afterAll(async () => {
  await upstream?.stop();
});

function writeConfig(kind: string, url: string, names: readonly string[], credentials: string): string {
  const servers = names.map((name) => `  - { name: ${name}, url: '${url}/${name}', ${credentials} }`);
  writeFileSync(
    join(directory, `${kind}.yaml`),
    `servers:\n${servers.join('\n')}\nweb: { listen_address: '127.0.0.1:0' }\nlog: { level: debug }\n`,
  );
  return `${kind}.yaml`;
}

type Search = { readonly daemon: Child; readonly stateDirectory: string; readonly servers: readonly string[] };

/** Ends the daemon after all polls; returns every place that contains the secret. */
async function searchEverywhere({ daemon, stateDirectory, servers }: Search): Promise<readonly string[]> {
  const places: [place: string, text: string][] = [];
  try {
    const [, url = ''] = await daemon.waitFor(/"?url"?[=:]"?(http:\/\/127\.0\.0\.1:\d+)/);
    await eventually(async () => {
      const metrics = await read(`${url}/metrics`);
      const missing = servers.filter((server) => !metrics.includes(`automation_up{server="${server}"} `));
      const waiting = (await read(url)).includes('waiting');
      if (missing.length > 0 || waiting) throw new Error(`not asked yet: ${missing.join(', ')}`);
    });
    for (const path of pages) places.push([path, await read(url + path)]);
  } finally {
    await daemon.stop();
  }
  places.push(['what it wrote', daemon.output()]);
  for (const name of readdirSync(stateDirectory)) {
    places.push([name, readFileSync(join(stateDirectory, name), 'latin1')]);
  }
  return places.flatMap(([place, text]) => findCanary(text).map((found) => `${place}: ${found}`));
}

const pages = [
  '/',
  '/metrics',
  '/-/ready',
  '/config',
  '/api/status',
  '/dashboards/overview.json',
  '/alerts/rules.yaml',
];

async function read(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** Accepts a login, then returns the session's secret in the way that the path selects. */
function echoSession(socket: Socket, head: string, turn: number): void {
  const [, method = '', name = '', path = ''] = /^(GET|POST) \/([^/]+)(\S*)/.exec(head) ?? [];
  const loggedIn = `Location: /${name}/menu/home\r\nSet-Cookie: JSESSIONID=${sessionCanary}; Path=/`;
  if (method === 'POST' && name === 'outside')
    socket.end(answer(302, 'text/html', canary, `Location: /${name}/user/error?p=${encodeURIComponent(canary)}`));
  else if (method === 'POST') socket.end(answer(302, 'text/html', canary, loggedIn));
  else if (path === '/menu/home') socket.end(answer(200, 'text/html', `<html>${canary}</html>`));
  else socket.end(echoes[name]?.(turn % 2 === 0 ? canary : sessionCanary) ?? '');
}

describe.concurrent('end-to-end/secrets', { timeout: 60_000 }, () => {
  it('finds a secret in every encoding', () => {
    expect(findCanary(`a ${canary} b`)).not.toEqual([]);
    expect(findCanary(Buffer.from(`any ${canary} text`).toString('base64'))).not.toEqual([]);
    expect(findCanary(encodeURIComponent(`x=${beginning}…`))).not.toEqual([]);
    expect(findCanary('nothing of the kind')).toEqual([]);
  });

  it.each(pickPart(['json', 'logfmt'], 2))('shows no secret of a file in %s', async (format) => {
    const stateDirectory = join(directory, `state-${format}`);
    const flags = [`--config.file=config.yaml`, `--log.format=${format}`, `--state.dir=${stateDirectory}`];
    const daemon = startCli(['serve', ...flags], { cwd: directory });

    expect(await searchEverywhere({ daemon, stateDirectory, servers: Object.keys(echoes) })).toEqual([]);
    expect(upstream.requests.some((head) => head.includes(canary))).toBe(true);
    expect(daemon.output()).toMatch(/poll failed|server is down|server rejects the credentials/);
  });

  it('shows no secret of the environment', async () => {
    const stateDirectory = join(directory, 'state-environment');
    const flags = [`--state.dir=${stateDirectory}`, '--web.listen-address=127.0.0.1:0', '--log.level=debug'];
    const env = { AUTOMATION_EXPORTER_URL: `${upstream.url}/refusal`, AUTOMATION_EXPORTER_TOKEN: canary };
    const daemon = startCli(['serve', ...flags], { cwd: directory, env });

    expect(await searchEverywhere({ daemon, stateDirectory, servers: ['default'] })).toEqual([]);
    expect(daemon.output()).toMatch(/poll failed|server is down|server rejects the credentials/);
  });

  it('shows no bearer token that servers return', async () => {
    const config = writeConfig('bearer', upstream.url, Object.keys(echoes), 'bearer_token_file: ./token');
    const stateDirectory = join(directory, 'state-bearer');
    const daemon = startCli(['serve', `--config.file=${config}`, `--state.dir=${stateDirectory}`], { cwd: directory });

    expect(await searchEverywhere({ daemon, stateDirectory, servers: Object.keys(echoes) })).toEqual([]);
    expect(upstream.requests.some((head) => head.includes(`Bearer ${canary}`))).toBe(true);
    expect(daemon.output()).toMatch(/poll failed|server is down|server rejects the credentials/);
  });

  it('shows no password and no session that servers return', async () => {
    let turn = 0;
    const server = await startRawServer((socket, head) => echoSession(socket, head, (turn += 1)));
    const names = [...Object.keys(echoes).filter((name) => name !== 'headers'), 'outside'];
    const config = writeConfig('session', server.url, names, 'username: reader, password_file: ./token');
    const stateDirectory = join(directory, 'state-session');
    const daemon = startCli(['serve', `--config.file=${config}`, `--state.dir=${stateDirectory}`], { cwd: directory });
    try {
      expect(await searchEverywhere({ daemon, stateDirectory, servers: names })).toEqual([]);
    } finally {
      await server.stop();
    }
    expect(server.requests.some((head) => head.includes(`JSESSIONID=${sessionCanary}`))).toBe(true);
    expect(daemon.output()).toMatch(/poll failed|server is down|server rejects the credentials/);
  });

  it.each(['check', 'check --json', 'config'])('shows no secret in the output of %s', async (words) => {
    const child = startCli([...words.split(' '), '--config.file=config.yaml'], { cwd: directory });
    await child.ended;

    expect(child.output()).toContain('elsewhere');
    expect(findCanary(child.output())).toEqual([]);
  });

  it('shows no secret in a wrong place of the configuration', async () => {
    writeFileSync(
      join(directory, 'misplaced.yaml'),
      `servers: [{ name: prod, url: 'http://${encodeURIComponent(canary)}@127.0.0.1:9', token: '${canary}', token_file: '${canary}' }]\n`,
    );
    const args = ['serve', '--config.file=misplaced.yaml', `--token=${canary}`, '--web.listen-address', canary];
    const child = startCli(args, { cwd: directory });

    expect(await child.ended).toEqual({ code: 2, signal: null });
    expect(child.output().split('\n').length).toBeGreaterThan(4);
    expect(findCanary(child.output())).toEqual([]);
  });
});
