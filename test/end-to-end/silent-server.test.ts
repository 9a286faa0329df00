import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { toText } from '../http/page-text.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/fake-clock.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const minute = 60_000;
const often = ['system-info', 'execution-mode', 'executions', 'schedule', 'project-jobs']
  .map((name) => `${name}: { every: 1s }`)
  .join(', ');

/** Starts a server with a frequent and a long job, and a daemon whose clock the test moves. */
async function watch() {
  const simulator = await startSimulator({ scenario: 'empty', token: 'a-token' });
  endings.push(() => simulator.stop());
  const { control } = simulator;
  control.createProject('shop');
  // The next run starts in five minutes.
  const schedule = { everyMs: 10 * minute, offsetMs: (Date.now() + 5 * minute) % (10 * minute) };
  control.createJob('shop', { name: 'settle', group: 'nightly', schedule }, 's');
  control.createJob('shop', { name: 'long' }, 'l');
  control.setConditions({ stuckJobs: ['l'] });
  const runningId = control.runJob('l') ?? 0;
  const hands = { aheadMs: 0 };
  const clock = fakeClock({ now: () => Date.now() + hands.aheadMs, ticks: () => performance.now() + hands.aheadMs });
  const stateDirectory = mkdtempSync(join(tmpdir(), 'automation-exporter-silent-'));
  endings.push(async () => rmSync(stateDirectory, { recursive: true, force: true }));
  const yaml = `servers: [{ name: prod, url: '${simulator.url}', token_file: TOKEN }]\ncollectors: { ${often} }\n`;
  const start = async (): Promise<Daemon> => {
    const daemon = await startDaemon({ yaml, token: 'a-token', clock, stateDirectory });
    endings.push(daemon.stop);
    return daemon;
  };
  const daemon = await start();
  await eventually(async () => expect(await daemon.metrics()).toContain('automation_executions_running{'));
  const endedAtMs = Date.now();
  const endedId = control.addFinished('shop', { jobId: 's', startedAtMs: endedAtMs - 1000, endedAtMs });
  await eventually(async () => expect(await read(daemon, `executions/prod/${endedId}`)).toContain('#'));
  await eventually(async () =>
    expect(await read(daemon, 'jobs/prod/shop/nightly/settle')).toMatch(/^Next run: .* \(in \d+ (s|min)\)$/m),
  );
  const pages = ['executions', `executions/prod/${endedId}`, `executions/prod/${runningId}`].concat([
    'jobs',
    'jobs?server=prod',
    'jobs/prod/shop/nightly/settle',
    'jobs/prod/shop/long',
    'schedule',
    'schedule/prod',
  ]);
  return { simulator, control, daemon, hands, start, pages, runningId };
}

async function read({ url }: Daemon, path: string): Promise<string> {
  const answer = await fetch(`${url}/${path}`, { headers: { accept: 'text/html' } });
  expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  return toText(await answer.text());
}

async function why({ url }: Daemon): Promise<string> {
  const told = (await (await fetch(`${url}/api/why?server=prod&job=shop/nightly/settle`)).json()) as {
    sentence: string;
  };
  return told.sentence;
}

async function isSeen({ url }: Daemon, state: string): Promise<void> {
  await eventually(async () =>
    expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ servers: [{ state }] }),
  );
}

describe('end-to-end, pages of a server that does not answer', () => {
  it('show that the server does not respond', async () => {
    const { simulator, daemon, hands, start, pages, runningId } = await watch();
    expect(await read(daemon, 'schedule/prod')).not.toContain('No answer');
    await simulator.stop();
    await isSeen(daemon, 'down');
    hands.aheadMs = 25 * minute;

    // The clock moved by 25 minutes; a slow machine adds real time.
    const silent = /^✗ No answer from "prod" since .* \(2[5-9] min ago\)\./;
    for (const page of pages) expect(await read(daemon, page)).toMatch(silent);
    expect(await why(daemon)).toMatch(
      /^No answer from "prod" since .* \(2[5-9] min ago\); everything else is the last known state\. /,
    );
    const running = await read(daemon, `executions/prod/${runningId}`);
    expect(running).toContain(`#${runningId}: last seen running `);
    expect(running).toMatch(/Duration when last seen: \d+ (m?s|min)$/m);
    expect(await read(daemon, 'jobs/prod/shop/long')).toMatch(/^Last seen running .*: #\d+ since/m);
    const job = await read(daemon, 'jobs/prod/shop/nightly/settle');
    // A next run whose time has passed is not shown.
    expect(job).toMatch(/Next run: (.* \(in \d+ (s|min)\)$|unknown)/m);
    expect(job).toContain('| … checked once the server shows them');
    expect(await read(daemon, 'schedule/prod')).toMatch(/ missed, [123] checked once the server shows them$/m);
    // The front page may be a few seconds old.
    await eventually(async () => {
      const text = await read(daemon, '');
      expect(text).toMatch(/^Last seen running /m);
      expect(text).toMatch(/^nightly\/settle #\d+ \| shop \| ✓ succeeded \| 2[5-9] min ago/m);
    });

    await daemon.stop();
    endings.splice(endings.indexOf(daemon.stop), 1);
    const again = await start();
    await isSeen(again, 'down');
    for (const page of pages.filter((page) => !page.endsWith(`/${runningId}`) && !page.endsWith('/long')))
      expect(await read(again, page)).toMatch(silent);
    expect(await read(again, '')).toMatch(/^"?.*Since .*\(2[5-9] min ago\)/m);
    expect(await read(again, '')).toMatch(/^nightly\/settle #\d+ \| shop \| ✓ succeeded \| 2[5-9] min ago/m);
  });

  it.each<[string, (control: Awaited<ReturnType<typeof watch>>['control']) => void]>([
    ['refused the credentials', (control) => control.expireToken('a-token')],
    ['shown no project', (control) => control.addToken({ token: 'a-token', policy: { projects: [] } })],
  ])('show the silence of a server that has %s', async (what, act) => {
    const { control, daemon, hands, pages } = await watch();
    act(control);
    hands.aheadMs = minute / 2;
    await eventually(async () => expect(await read(daemon, 'tonight')).toContain(what));
    hands.aheadMs += 25 * minute;
    const line = new RegExp(`^✗ "prod" has ${what} since .* \\(2[5-9] min ago\\)\\.`);
    // A hidden project has no running executions.
    const lasting = pages.filter((page) => !/\/(1|long)$/.test(page));
    for (const page of what === 'shown no project' ? lasting : pages) expect(await read(daemon, page)).toMatch(line);
  });
});
