import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startCli } from '../support/child.ts';
import { eventually } from '../support/eventually.ts';
import { type RawServer, startRawServer } from '../support/raw-server.ts';

/** Its characters are written differently in URLs, in JSON, in HTML and in base64. */
const canary = 'kP7/vX+q9"Zt&4=wLm<8>J';
/** Real servers echo the beginning of a token in their refusals. */
const beginning = canary.slice(0, 6);

const forms: readonly string[] = [canary, beginning].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  encodeURIComponent(secret).toLowerCase(),
  JSON.stringify(secret).slice(1, -1),
  secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  Buffer.from(secret).toString('hex'),
  // What surrounds it in a longer text shifts base64 by a third or two; ends that depend on neighbours are cut.
  ...['', 'a', 'ab'].map((before) =>
    Buffer.from(before + secret)
      .toString('base64')
      .slice(before.length === 0 ? 0 : 4, -4),
  ),
]);

/** Where the secret shows in a text, in words that do not repeat it. */
function findCanary(text: string): readonly string[] {
  return forms.flatMap((form, index) =>
    form.length >= 6 && text.includes(form)
      ? [`form ${index}: …${text.slice(Math.max(0, text.indexOf(form) - 60), text.indexOf(form))}`]
      : [],
  );
}

type Echo = (token: string) => string | Buffer;

/** Every way in which a server may give back what it was shown, by the first part of its path. */
const echoes: Readonly<Record<string, Echo>> = {
  refusal: (token) =>
    answer(
      403,
      'application/json',
      JSON.stringify({
        error: true,
        apiversion: 47,
        errorCode: 'unauthorized',
        message: `(Token:${token.slice(0, 6)}****) ${token} is not authorized`,
      }),
    ),
  denial: (token) =>
    answer(
      403,
      'application/json',
      JSON.stringify({
        error: true,
        apiversion: 47,
        errorCode: `api.error.item.unauthorized ${token}`,
        message: token,
      }),
    ),
  missing: (token) =>
    answer(
      404,
      'application/json',
      JSON.stringify({ errorCode: token, message: `No ${encodeURIComponent(token)} here` }),
    ),
  busy: (token) => answer(429, 'text/plain', token, `Retry-After: ${token}\r\nX-Token: ${token}`),
  broken: (token) =>
    answer(500, 'text/html', `<html><h1>${token}</h1><pre>at ${Buffer.from(token).toString('base64')}</pre></html>`),
  phrase: (token) => `HTTP/1.1 503 ${token}\r\nContent-Length: 0\r\n\r\n`,
  login: (token) => answer(302, 'text/html', token, `Location: /user/login?token=${encodeURIComponent(token)}`),
  elsewhere: (token) =>
    answer(302, 'text/html', token, `Location: http://127.0.0.1:9/${encodeURIComponent(token)}#${token}`),
  page: (token) => answer(200, 'text/html', `<!doctype html><title>${token}</title>`),
  garbage: (token) => answer(200, 'application/json', `{"token": "${token}" oops`),
  shape: (token) =>
    answer(
      200,
      'application/json',
      JSON.stringify({ [token]: token, system: token, executionMode: [token], checks: { [token]: token } }),
    ),
  compressed: (token) =>
    Buffer.concat([
      Buffer.from(
        answer(200, 'application/json', '', 'Content-Encoding: gzip').replace(
          'Content-Length: 0\r\n',
          'Connection: close\r\n',
        ),
      ),
      gzipSync(token).subarray(0, 20),
      Buffer.from(token),
    ]),
  headers: (token) => `HTTP/1.1 200 OK\r\n${token}: ${token}\r\n${token}\r\n\r\n`,
  nonsense: (token) => `${token}\r\n\r\n${token}`,
};

function answer(status: number, type: string, body: string, more = 'X-More: none'): string {
  return `HTTP/1.1 ${status} Echo\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n\r\n${body}`;
}

function echo(socket: Socket, head: string): void {
  const [, name = ''] = /^GET \/([^/]+)\//.exec(head) ?? [];
  const [, token = ''] = /^x-(?:rundeck|service)-auth-token: (.*)\r$/im.exec(head) ?? [];
  socket.end(echoes[name]?.(token) ?? '');
}

let directory: string;
let upstream: RawServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'automation-exporter-secrets-'));
  upstream = await startRawServer(echo);
  writeFileSync(join(directory, 'token'), `${canary}\n`, { mode: 0o600 });
  const servers = Object.keys(echoes).map(
    (name) => `  - { name: ${name}, url: '${upstream.url}/${name}', token_file: ./token }`,
  );
  writeFileSync(
    join(directory, 'config.yaml'),
    `servers:\n${servers.join('\n')}\nweb: { listen_address: '127.0.0.1:0' }\nlog: { level: debug }\n`,
  );
});

afterAll(async () => {
  await upstream?.stop();
  rmSync(directory, { recursive: true, force: true });
});

type Search = { readonly daemon: Child; readonly stateDirectory: string; readonly servers: readonly string[] };

/** Waits until every server was asked, looks everywhere, ends the daemon, and tells the places where the secret shows. */
async function searchEverywhere({ daemon, stateDirectory, servers }: Search): Promise<readonly string[]> {
  const places: [place: string, text: string][] = [];
  try {
    const [, url = ''] = await daemon.waitFor(/"?url"?[=:]"?(http:\/\/127\.0\.0\.1:\d+)/, 8000);
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

describe('end-to-end/secrets', () => {
  it('knows what it looks for', () => {
    expect(findCanary(`a ${canary} b`)).not.toEqual([]);
    expect(findCanary(Buffer.from(`any ${canary} text`).toString('base64'))).not.toEqual([]);
    expect(findCanary(encodeURIComponent(`x=${beginning}…`))).not.toEqual([]);
    expect(findCanary('nothing of the kind')).toEqual([]);
  });

  it.each(['json', 'logfmt'])('shows nothing of a secret of a file, whatever servers echo, in %s', async (format) => {
    const stateDirectory = join(directory, `state-${format}`);
    const flags = [`--config.file=config.yaml`, `--log.format=${format}`, `--state.dir=${stateDirectory}`];
    const daemon = startCli(['serve', ...flags], { cwd: directory });

    expect(await searchEverywhere({ daemon, stateDirectory, servers: Object.keys(echoes) })).toEqual([]);
    expect(upstream.requests.some((head) => head.includes(canary))).toBe(true);
    expect(daemon.output()).toContain('poll failed');
  });

  it('shows nothing of a secret of the environment', async () => {
    const stateDirectory = join(directory, 'state-environment');
    const flags = [`--state.dir=${stateDirectory}`, '--web.listen-address=127.0.0.1:0', '--log.level=debug'];
    const env = { AUTOMATION_EXPORTER_URL: `${upstream.url}/refusal`, AUTOMATION_EXPORTER_TOKEN: canary };
    const daemon = startCli(['serve', ...flags], { cwd: directory, env });

    expect(await searchEverywhere({ daemon, stateDirectory, servers: ['default'] })).toEqual([]);
    expect(daemon.output()).toContain('poll failed');
  });

  it.each(['check', 'check --json', 'config'])('shows nothing of it in the output of %s', async (words) => {
    const child = startCli([...words.split(' '), '--config.file=config.yaml'], { cwd: directory });
    await child.ended;

    expect(child.output()).toContain('elsewhere');
    expect(findCanary(child.output())).toEqual([]);
  });

  it('shows nothing of a secret that stands where it should not', async () => {
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
