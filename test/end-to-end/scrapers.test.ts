import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { collectors } from '../../src/daemon/catalogue/collectors.ts';
import { startCli } from '../support/child.ts';
import { startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';

/** All collectors are on, but poll only after a reload. */
const everything = collectors.map(({ name }) => `  ${name}: { enabled: true, every: 6h }`).join('\n');

/** Counts the requests to the service up to the third poll of every collector. */
async function asked(scrapers: number) {
  const simulator = await startSimulator({ scenario: 'failing-night', frozen: true });
  onTestFinished(() => simulator.stop());
  simulator.control.configure({ commercial: true });
  const nowMs = Date.parse('2026-01-15T13:00:00Z');
  const server = `{ name: frozen, url: '${simulator.url}', token_file: TOKEN, budget: { requests_per_second: 1000 } }`;
  const yaml = `servers: [${server}]\ncollectors:\n${everything}\nweb: { max_requests: 100 }\nlog: { level: debug }\n`;
  const daemon = await startDaemon({
    yaml,
    token: simulator.token,
    clock: fakeClock({ now: () => nowMs, ticks: () => performance.now() }),
  });
  onTestFinished(() => daemon.stop());

  const over = new AbortController();
  let scrapes = 0;
  const crowd = Array.from({ length: scrapers }, async (_, index) => {
    const headers = {
      accept: index % 2 === 0 ? 'text/plain' : 'application/openmetrics-text',
      connection: 'keep-alive',
    };
    while (!over.signal.aborted) {
      const answer = await fetch(`${daemon.url}/metrics`, { headers });
      expect(answer.status).toBe(200);
      // Only a scrape in OpenMetrics ends with `# EOF`.
      expect((await answer.text()).endsWith('# EOF\n')).toBe(index % 2 === 1);
      scrapes += 1;
    }
  });

  for (let polls = 1; polls <= 3; polls += 1) {
    await eventually(async () => {
      const ends = daemon.logged.filter((line) => /first poll succeeded|collector switched off|poll failed/.test(line));
      expect(ends.length).toBe(polls * collectors.length);
    });
    // A reload polls everything again.
    if (polls < 3) await daemon.app.reload(await daemon.load(yaml));
  }
  over.abort();
  await Promise.all(crowd);
  const requests = (): readonly string[] => {
    const all = simulator.requests().map(({ method, path, query }) => `${method} ${path}?${toPlain(query)}`);
    // The number of read definitions depends on the machine.
    return all.filter((request) => !request.endsWith('?format=json')).toSorted();
  };
  return { requests, scrapes };
}

/** Replaces times since the start of counting, which vary by a second. */
function toPlain(query: string): string {
  return query.replace(/begin=17684783\d{5}\b/, 'begin=START').replace(/time=\d+n/, 'time=SPAN');
}

function readRssMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('end-to-end/scrapers', () => {
  it('faults/row-35: stays within its memory limit while fifty scrapers stop reading', async () => {
    const simulator = await startSimulator({ scenario: 'quiet-day' });
    onTestFinished(() => simulator.stop());
    const daemon = startCli(['serve', '--state.memory', '--web.listen-address=127.0.0.1:0'], {
      env: { AUTOMATION_EXPORTER_URL: simulator.url, AUTOMATION_EXPORTER_TOKEN: simulator.token },
    });
    onTestFinished(() => daemon.stop());
    const [, port = ''] = await daemon.waitFor(/msg=serving url=http:\/\/127.0.0.1:(\d+)/, 60_000);
    const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await eventually(async () => expect(await scrape()).toContain('automation_up{server="default"} 1'), {
      limitMs: 60_000,
    });
    const before = readRssMb(daemon.pid);
    const readers = Array.from({ length: 50 }, () => {
      const socket = connect({ host: '127.0.0.1', port: Number(port) }).on('error', () => undefined);
      // The client sends eight requests, and reads none of the responses, which have some hundred kB each.
      socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8));
      return socket.pause();
    });
    onTestFinished(async () => {
      for (const reader of readers) reader.destroy();
    });
    for (let count = 0; count < 50; count += 1)
      expect(await scrape()).toMatch(/^automation_up\{server="default"\} 1$/m);
    expect(readRssMb(daemon.pid) - before).toBeLessThan(60);
  }, 180_000);

  it('faults/row-36: sends as many requests with fifty scrapers as without', async () => {
    const alone = await asked(0);
    const crowded = await asked(50);
    expect(crowded.scrapes).toBeGreaterThan(500);
    await eventually(async () => expect(crowded.requests()).toEqual(alone.requests()));
    expect(alone.requests().length).toBeGreaterThan(3 * collectors.length);
  }, 180_000);
});
