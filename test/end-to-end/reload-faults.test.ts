import { describe, expect, it, onTestFinished } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import type { SelfTracing } from '../../src/daemon/self-tracing.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

async function start(): Promise<Simulator> {
  const simulator = await startSimulator({ scenario: 'empty', apiVersion: 47, token: 'a-token' });
  onTestFinished(() => simulator.stop());
  return simulator;
}

describe('end-to-end, a reload whose old parts do not end in time', () => {
  it('uses the new configuration', async () => {
    const { url } = await start();
    const yaml = (every: string) =>
      `servers: [{ name: prod, url: '${url}', token_file: TOKEN }]\ncollectors: { execution-mode: { every: ${every} } }\n`;
    const selfTracing: SelfTracing = {
      ofPost: () => ({ send: () => Promise.reject(new Error('odd')), close: breakDown }),
      ofPoll: (_key, poll) => poll,
      ofTransport: (_server, transport) => transport,
      stop: async () => undefined,
    };
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const daemon = await startDaemon({ yaml: yaml('15s'), token: 'a-token', env, selfTracing });
    onTestFinished(daemon.stop);
    await daemon.app.reload(await daemon.load(yaml('1s')));
    expect(daemon.logged.join('')).toContain('shutdown incomplete');
    const before = await countModes(daemon);
    await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(before + 1));
  });
});

describe('end-to-end, a stop during a reload', () => {
  it('closes the state after the old polls have ended', async () => {
    const { url } = await start();
    const yaml = (every: string) =>
      `servers: [{ name: prod, url: '${url}', token_file: TOKEN }]\ncollectors: { execution-mode: { every: ${every} } }\n`;
    const held = Promise.withResolvers<void>();
    const selfTracing: SelfTracing = {
      ofPost: (post) => post,
      ofPoll: (_key, poll) => ({ ...poll, run: (signal) => poll.run(signal).then(() => held.promise) }),
      ofTransport: (_server, transport) => transport,
      stop: async () => undefined,
    };
    const daemon = await startDaemon({ yaml: yaml('15s'), token: 'a-token', selfTracing });
    onTestFinished(daemon.stop);
    await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(0));
    const reloaded = daemon.app.reload(await daemon.load(yaml('6s')));
    await eventually(async () => expect(await (await fetch(`${daemon.url}/config`)).text()).toContain('every: 6s'));
    let isStopped = false;
    const stopped = daemon.app.stop(() => undefined).then(() => (isStopped = true));
    await eventually(() => expect(fetch(`${daemon.url}/-/healthy`)).rejects.toThrow('fetch failed'));
    expect(isStopped).toBe(false);
    held.resolve();
    await Promise.all([stopped, reloaded]);
  });
});

describe('end-to-end, what pages show about a reload', () => {
  it('lists at /config the changes that wait for a restart', async () => {
    const simulator = await start();
    const yaml = `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]\n`;
    const daemon = await startDaemon({ yaml, token: 'a-token' });
    onTestFinished(daemon.stop);
    const read = async (path: string) => (await fetch(`${daemon.url}${path}`)).text();
    expect((await read('/config')).split('\n')[0]).toBe('servers:');
    daemon.app.onReload({
      ok: true,
      warnings: ['config.yaml:2:1 web.max_requests: takes effect only after a restart'],
    });
    expect((await read('/config')).split('\n')[0]).toBe(
      '# config.yaml:2:1 web.max_requests: takes effect only after a restart',
    );
    daemon.app.onReload({ ok: false, complaints: ['config.yaml:2:1 web: is odd'] });
    expect(await read('/api/status')).toContain('The configuration was not reloaded. The reload just now failed, ');
    expect(await read('/')).toContain('config.yaml:2:1 web: is odd');
    expect((await read('/config')).split('\n')[0]).toMatch(/max_requests/);
    daemon.app.onReload({ ok: true, warnings: [] });
    expect(await read('/')).not.toContain('is odd');
    expect((await read('/config')).split('\n')[0]).toBe('servers:');
  });
});

describe('end-to-end, reloads in a row', () => {
  it('keeps to the budget of the server over many reloads', async () => {
    const simulator = await start();
    const yaml = (name: string) =>
      `servers: [{ name: ${name}, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 5 } }]\n`;
    const startedAtMs = Date.now();
    const daemon = await startDaemon({ yaml: yaml('prod'), token: 'a-token' });
    onTestFinished(daemon.stop);
    for (let reload = 0; reload < 30; reload += 1) {
      await daemon.app.reload(await daemon.load(yaml(reload % 3 === 2 ? 'other' : 'prod')));
      await daemon.metrics();
    }
    await eventually(async () => expect(simulator.requests().length).toBeGreaterThan(5));
    // Requests are never early, so this is their maximum.
    const allowed = (atMs: number): number => 5 * (Math.floor((atMs - startedAtMs) / 1000) + 1);
    expect(simulator.requests().filter(({ atMs }, before) => before + 1 > allowed(atMs))).toEqual([]);
  });

  it('keeps the circuit open over a reload', async () => {
    const simulator = await start();
    simulator.control.addFault({ kind: 'status', status: 503, path: '.*' });
    const yaml = `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN, timeout: 3s }]\n`;
    const daemon = await startDaemon({ yaml, token: 'a-token' });
    onTestFinished(daemon.stop);
    const isOpen = async () => /circuit_open\{server="prod"\} (\d)/.exec(await daemon.metrics())?.[1];
    await eventually(async () => expect(await isOpen()).toBe('1'));
    simulator.control.clearFaults();
    simulator.control.addFault({ kind: 'hang', path: '.*' });
    await daemon.app.reload(await daemon.load(yaml));
    // The reload stopped the probe.
    const reloadedAtMs = Date.now();
    const probes = () => simulator.requests().filter(({ atMs }) => atMs >= reloadedAtMs);
    await eventually(async () => expect(probes().length).toBeGreaterThan(1));
    // With an open circuit, one request is sent at a time; each times out after at least 3 s.
    const [first, second] = probes();
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(1500);
    expect(await isOpen()).toBe('1');
    simulator.control.clearFaults();
    await eventually(async () => expect(await isOpen()).toBe('0'), { limitMs: 30_000 });
  });
});

type Steps = { broken?: 'traces' | 'connection' | 'poll' | 'start' };

describe('end-to-end, a reload that fails at a step', () => {
  async function startTwo(steps: Steps) {
    const [first, second] = [await start(), await start()];
    const yaml = (isPinged: boolean) =>
      `servers:
  - { name: first, url: '${first.url}', token_file: TOKEN }
  - { name: second, url: '${second.url}', token_file: TOKEN }
collectors: { execution-mode: { enabled: true, every: 1s }, ping: { enabled: ${String(isPinged)} } }\n`;
    const selfTracing: SelfTracing = {
      ofPost: (post) => (steps.broken === 'traces' ? breakDown() : post),
      ofPoll: (key, poll) => {
        if (key.server !== 'second' || (steps.broken !== 'poll' && steps.broken !== 'start')) return poll;
        if (steps.broken === 'poll') breakDown();
        // The step fails once, so the old configuration can start.
        delete steps.broken;
        return { ...poll, run: breakDown };
      },
      ofTransport: (server, transport) =>
        steps.broken === 'connection' && server === 'second' ? breakDown() : transport,
      stop: async () => undefined,
    };
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    const flags = ['--collector.disable-defaults'];
    const daemon = await startDaemon({ yaml: yaml(true), token: 'a-token', env, flags, selfTracing });
    onTestFinished(daemon.stop);
    return { daemon, other: await daemon.load(yaml(false)) };
  }

  it.each(['traces', 'connection', 'poll', 'start'] as const)(
    'keeps the whole previous configuration if this step fails: %s',
    async (step) => {
      const steps: Steps = {};
      const { daemon, other } = await startTwo(steps);
      await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(1));
      steps.broken = step;
      await expect(daemon.app.reload(other)).rejects.toThrow('it does not end');
      delete steps.broken;
      const before = await countModes(daemon);
      await eventually(async () => expect(await countModes(daemon)).toBeGreaterThan(before + 2));
      await eventually(async () =>
        expect(await listPings(daemon)).toEqual([
          'automation_exporter_collector_enabled{server="first",collector="ping",reason=""} 1',
          'automation_exporter_collector_enabled{server="second",collector="ping",reason=""} 1',
        ]),
      );
      expect(await daemon.metrics()).toContain('automation_ping_duration_seconds{server="second"');
      await daemon.app.reload(other);
      await eventually(async () =>
        expect(await listPings(daemon)).toEqual([
          'automation_exporter_collector_enabled{server="first",collector="ping",reason="config"} 0',
          'automation_exporter_collector_enabled{server="second",collector="ping",reason="config"} 0',
        ]),
      );
    },
    40_000,
  );
});

function breakDown(): never {
  throw new Error('it does not end');
}

async function listPings({ metrics }: { readonly metrics: () => Promise<string> }): Promise<string[]> {
  const lines = (await metrics()).split('\n');
  return lines.filter((line) => line.includes('collector_enabled{') && line.includes('collector="ping"')).sort();
}

async function countModes({ metrics }: { readonly metrics: () => Promise<string> }): Promise<number> {
  const text = await metrics();
  const [, count] = /api_request_duration_seconds_count\{[^}]*execution-mode[^}]*\} (\d+)/.exec(text) ?? [];
  return Number(count ?? 0);
}
