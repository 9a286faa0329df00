import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/domain/failure-class.ts';
import { executionPageRoute } from '../../src/http/pages/execution/execution-page.ts';
import type { PastExecution } from '../../src/status/past-execution.ts';
import type { EndedStatus, RunningExecution } from '../../src/status/status.ts';
import { isEscaped, toText } from './page-text.ts';
import { type Answer, serve } from './serve.ts';
import { failure, largeExecution, pastExecution, span, startMs } from './some-execution.ts';
import { silence } from './some-jobs.ts';
import { ended } from './some-status.ts';

type Given = {
  readonly execution?: PastExecution | undefined;
  readonly path?: string;
  readonly running?: RunningExecution;
  readonly ended?: readonly EndedStatus[];
  readonly link?: string | undefined;
  readonly older?: EndedStatus;
  readonly cause?: Cause;
  readonly url?: string;
  readonly isOn?: boolean;
  readonly routePrefix?: string;
};

async function read({ path = '/executions/prod/4711', isOn = true, ...given }: Given): Promise<Answer> {
  const asked: string[] = [];
  const route = executionPageRoute({
    find: async (server, id) => {
      asked.push(`${server} ${id}`);
      return given.execution;
    },
    cause: (server, run) => (server === 'prod' && run.id === 4711 ? given.cause : undefined),
    urlOf: () => given.url,
    ended: (server) => (server === 'prod' ? (given.ended ?? []) : []),
    older: (server, id) => (server === 'prod' && id === 4711 ? given.older : undefined),
    running: (server, id) => (server === 'prod' && id === 4711 ? given.running : undefined),
    tracing: () => ({ isOn, servers: ['prod', 'test'] }),
    silence,
    traceLink: () => given.link,
    nowMs: () => startMs + 400_000,
  });
  const { ask } = await serve([route], given.routePrefix === undefined ? {} : { routePrefix: given.routePrefix });
  const answer = await ask(path);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  return answer;
}

async function readPage(given: Given): Promise<string> {
  const { status, body } = await read(given);
  expect(status).toBe(200);
  return body;
}

describe('http/execution-page', () => {
  it('shows an execution span by span, and the reason for its result', async () => {
    const page = await readPage({ execution: pastExecution() });
    expect(toText(page)).toBe(`✗nightly/settle #4711: failed
Step 2 (Settle) failed on db02: NonZeroResultCode.
Server: prod
Project: pay
Started: 2024-05-20 03:17:55 UTC
Ended: 2024-05-20 03:20:00 UTC (4 min ago)
Took: 2 min 5 s
Average of the job: 110 s
Reason: NonZeroResultCode
Trace id: f45e4a6a6cb0f6a2569d62819cbf45ac
The execution on the serverWith the log output
Steps
3 of 7 spans failed; root cause: step 2 (Settle) on db02.
Step | 02 min 5 s | Starts | Took | Result
RUN pay/nightly/settle |  | 0 | 2 min 5 s | ✗ failed (the execution failed: first failure NonZeroResultCode)
start wait |  | 0 | 2.5 s | (it waited for its first step)
Build 1 |  | +2.5 s | 57.5 s | ✓ succeeded
Settle 2 |  | +1 min | 1 min | ✗ failed (failed, NonZeroResultCode below)
db01 2@db01 |  | +1 min | 30 s | ✓ succeeded
db02 2@db02 |  | +1 min | 59.5 s | ✗ failed (failed, NonZeroResultCode)
Tell somebody 2e |  | +2 min | 5 s | ! aborted (an error handler)`);
    expect(page).toContain('<title>failed: #4711 nightly/settle</title>');
    expect(page).toContain('<header><a class="brand" href="../../">');
    expect(page).toContain('<tr class="failed" id="failed"><th scope="row" style="--depth:2"><bdi>db02</bdi>');
  });

  it('places each bar by the start and the duration of its span', async () => {
    const at = (from: number, to: number) => ({ startMs: startMs + from, endMs: startMs + to });
    const spans = [
      span('a', { depth: 0, ...at(0, 8000) }),
      span('b', at(2000, 3000)),
      span('c', at(8000, 8000)),
    ] as const;
    const outside = span('d', at(-5000, 90_000));
    const page = await readPage({ execution: pastExecution({ spans: [...spans, outside] }) });
    expect(page.match(/--from:[^"]*/g)).toEqual([
      '--from:0.00%;--for:100.00%',
      '--from:25.00%;--for:12.50%',
      '--from:100.00%;--for:0.00%',
      '--from:0.00%;--for:100.00%',
    ]);
  });

  it('says how to store the steps of executions', async () => {
    const kept = [ended({ id: 4711, ending: 'failed', startedAtMs: startMs, endedAtMs: startMs + 65_000 })];
    const text = toText(await readPage({ ended: kept, isOn: false }));
    expect(text).toMatch(/^✗nightly\/settle #4711: failed\nServer: prod\nProject: pay\n/);
    expect(text).toContain('\nTook: 1 min 5 s\nThe steps are unknown, because traces.enabled is off.');
    expect((await read({ ended: kept, path: '/executions/test/4711' })).status).toBe(404);
  });

  it('shows the stored cause of an execution without its steps', async () => {
    const kept = [ended({ id: 4711, ending: 'failed', startedAtMs: startMs, endedAtMs: startMs + 65_000 })];
    const cause = {
      why: 'Step 2 (Settle) failed on db02: NonZeroResultCode.',
      facts: [{ name: 'Reason', value: 'NonZeroResultCode' }],
      traceId: 'f45e4a6a6cb0f6a2569d62819cbf45ac',
      permalink: 'https://elsewhere.example.org/project/pay/execution/show/4711',
    };
    const page = await readPage({ ended: kept, cause, link: 'https://traces.example.org/{trace_id}' });
    expect(toText(page)).toMatch(
      /^✗nightly\/settle #4711: failed\nStep 2 \(Settle\) failed on db02: NonZeroResultCode\.\n/,
    );
    expect(toText(page)).toContain('\nReason: NonZeroResultCode\nTrace id: f45e4a6a6cb0f6a2569d62819cbf45ac\n');
    expect(page).toContain('<a href="https://traces.example.org/f45e4a6a6cb0f6a2569d62819cbf45ac"');
    expect(page).toContain(`<a href="${cause.permalink}"`);
  });

  it('shows the stored cause of an old failure', async () => {
    const older = ended({ id: 4711, ending: 'failed', startedAtMs: startMs, endedAtMs: startMs + 65_000 });
    const cause = { why: 'Step 2 failed.', facts: [] };
    expect(toText(await readPage({ older, cause }))).toMatch(/^✗nightly\/settle #4711: failed\nStep 2 failed\.\n/);
    const kept = [ended({ id: 4711, ending: 'succeeded' })];
    expect(toText(await readPage({ older, ended: kept }))).toMatch(/^✓nightly\/settle #4711: succeeded\n/);
  });

  it('links to the server if only the end of an execution is known', async () => {
    const url = 'https://automation.example.org/rundeck/';
    const page = await readPage({ ended: [ended({ id: 4711, project: 'pay/a b' })], url });
    expect(page).toContain(
      '<a href="https://automation.example.org/rundeck/project/pay%2Fa%20b/execution/show/4711" rel="noreferrer">',
    );
  });

  it('draws the duration of an execution among the other runs of its job', async () => {
    const kept = Array.from({ length: 5 }, (_, index) =>
      ended({ id: 4713 - index, startedAtMs: startMs, endedAtMs: startMs + (index + 1) * 10_000 }),
    );
    const others = [
      ...kept,
      ended({ id: 1, job: 'tidy' }),
      ended({ id: 2, ending: 'failed', startedAtMs: 0, endedAtMs: 90_000 }),
    ];
    const page = await readPage({ ended: others });
    expect([...page.matchAll(/<title>(#[^<]*)/g)].map(([, title]) => title)).toEqual([
      '#2: failed after 1 min 30 s',
      '#4709: succeeded after 50 s',
      '#4710: succeeded after 40 s',
      '#4711: succeeded after 30 s',
      '#4712: succeeded after 20 s',
      '#4713: succeeded after 10 s',
    ]);
    expect(page).toContain(
      '<a href="../../executions?server=prod&#38;project=pay&#38;text=nightly%2Fsettle">6 runs</a> of <bdi>nightly/settle</bdi>, median of successful runs 30 s (dashed)',
    );
    expect(await readPage({ ended: kept.slice(0, 4) })).toContain('median of successful runs 25 s');
    expect(page).toMatch(/#4711: succeeded after 30 s<\/title><rect class="place marked" x="50.00"/);
  });

  it('draws the duration of an older execution among the runs before and after it', async () => {
    const kept = Array.from({ length: 200 }, (_, index) =>
      ended({ id: 4811 - index, startedAtMs: startMs, endedAtMs: startMs + 10_000 }),
    );
    const ids = [...(await readPage({ ended: kept })).matchAll(/<title>#(\d+)/g)].map(([, id]) => Number(id));
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([60, 4682, 4741]);
  });

  it('shows an execution that took no time', async () => {
    const root = span('RUN', { depth: 0, endMs: startMs });
    expect(await readPage({ execution: pastExecution({ spans: [root] }) })).toContain('--from:0.00%;--for:0.00%');
  });

  it('marks adjusted times and missing parts of a trace', async () => {
    const root = span('RUN', { depth: 0 });
    const execution = pastExecution({
      spans: [root, span('a', { isFitted: true })],
      notes: ['Its steps were not read.'],
    });
    const text = toText(await readPage({ execution }));
    expect(text).toContain('\n≈ approximate: the server reports step times in whole seconds.');
    expect(text).toContain('\na |  | ≈ 0 | 1 s | ✓ succeeded');
    expect(text).toContain('\n! Its steps were not read.\n');
  });

  it('shows the first spans and all failed spans, if there are many spans', async () => {
    const text = toText(await readPage({ execution: largeExecution(1000) }));
    expect(text).toContain('\nOf 1000 spans, the first 250 and all failed ones are shown; 743 are not shown.\n');
    expect(text.slice(text.indexOf('web246 '))).toBe(`web246 1@web246 |  | +24.6 s | 5 s | ✓ succeeded
web247 1@web247 |  | +24.7 s | 5 s | ✓ succeeded
… 51 more that did not fail
web299 1@web299 |  | +29.9 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 99 more that did not fail
web399 1@web399 |  | +39.9 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 99 more that did not fail
web499 1@web499 |  | +49.9 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 99 more that did not fail
web599 1@web599 |  | +59.9 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 99 more that did not fail
web699 1@web699 |  | +1 min 9 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 99 more that did not fail
web799 1@web799 |  | +1 min 19 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 99 more that did not fail
web899 1@web899 |  | +1 min 29 s | 5 s | ✗ failed (failed, NonZeroResultCode)
… 98 more that did not fail`);
  });

  it('sends a small page if thousands of spans failed', async () => {
    const bad = Array.from({ length: 5000 }, (_, index) => span(`web${index}`, failure));
    const page = await readPage({
      execution: pastExecution({ spans: [span('RUN', { depth: 0, ...failure }), ...bad] }),
    });
    expect(page.match(/<tr/g)?.length).toBe(2252);
    expect(toText(page)).toContain(
      'Of 5001 spans, the first 250 and the first 2000 other failed ones are shown; 2751 are not shown, of which 2751 failed.',
    );
    expect(toText(page)).toContain('\n… 2751 more, of which 2751 failed');
  });

  it('links to the service only if its address is safe', async () => {
    const link = 'https://traces.example.org/trace/{trace_id}?again={trace_id}';
    const page = await readPage({ execution: pastExecution({ traceId: '$&ab' }), link });
    expect(page).toContain('<a href="https://traces.example.org/trace/$&#38;ab?again=$&#38;ab" rel="noreferrer">');
    expect(page).toContain(
      '<a href="https://automation.example.org/project/pay/execution/show/4711" rel="noreferrer">',
    );

    for (const permalink of ['javascript:alert(1)', 'data:text/html,x', '//evil.example.org', 'https://', undefined]) {
      const harmless = await readPage({ execution: pastExecution({ permalink }) });
      const [, main = ''] = /<main[^>]*>(.*)/s.exec(harmless) ?? [];
      expect(main.match(/<a [^>]*>/g)).toEqual(['<a href="#failed">']);
    }
  });

  it('links to the attempts before and after an execution', async () => {
    const execution = pastExecution({
      server: 'a/b',
      attempts: [
        { relation: 'retry of', id: 4710, hasPage: true },
        { relation: 'retried by', id: 4712, hasPage: false },
      ],
    });
    const page = await readPage({ execution });
    expect(toText(page)).toContain('\nRetry of: #4710\nRetried by: #4712, which has no page here\n');
    expect(page.match(/<a href="[^"]*executions[^"]*">/g)).toEqual(['<a href="../../executions/a%2Fb/4710">']);
  });

  it('links to the front page below a prefix', async () => {
    const given = { execution: pastExecution(), routePrefix: '/here/too' };
    expect(await readPage({ ...given, path: '/here/too/executions/prod/4711' })).toContain(
      'class="brand" href="../../"',
    );
  });

  it.each([
    ['/executions/prod/4711', 'Execution 4711 of prod not found', 'Possible reasons:'],
    [
      '/executions/away/4711',
      'Execution 4711 of away not found',
      'No watched server has this name. Watched servers: prod, test.',
    ],
    [
      '/executions/prod/x%3Ci%3E',
      'Execution x&#60;i&#62; of prod not found',
      'This is not an execution id: ids are whole numbers.',
    ],
  ])('explains why details are not shown for %s', async (path, title, reason) => {
    const { status, body } = await read({ path });
    const [first, second] = toText(body).split('\n');
    expect({ status, first, second }).toEqual({ status: 404, first: title, second: reason });
    expect(toText(body)).toContain('The steps of the last 1,000 are kept in memory');
  });

  it('names every reason why an execution may be missing', async () => {
    const text = toText((await read({})).body);
    expect(text).toBe(`Execution 4711 of prod not found
Possible reasons:
The execution has just started or ended: executions are read every few seconds, in quiet projects within executions.max_delay.
The execution ended before the exporter began to count executions of this server.
More than 1,000 executions of this server have ended since.
Its project or job is not watched, or the server has no such execution.
Running executions, the last 1,000 finished ones, and the last 500 unsuccessful ones of jobs have a page, for each server. The steps of the last 1,000 are kept in memory, fewer if they are very large; of other executions, only the causes are known.`);
  });

  it('shows that an execution still runs', async () => {
    const running = {
      server: 'prod',
      id: 4711,
      project: 'pay',
      job: 'nightly/<settle>',
      startedAtMs: startMs,
      averageMs: 110_000,
      isOverdue: true,
      isWaiting: false,
      serverNowMs: startMs + 400_000,
      seenMs: startMs + 400_000,
    };
    const page = await readPage({ running });
    expect(page).toContain('<title>still runs: #4711 nightly/&#60;settle&#62;');
    expect(toText(page)).toBe(`…nightly/&#60;settle&#62; #4711: still runs
As reported by the server at 2024-05-20 03:24:35 UTC. The steps appear here after the execution has ended and its trace is finished.
Server: prod
Project: pay
Job: pay/nightly/&#60;settle&#62;
Started: 2024-05-20 03:17:55 UTC
Running for: 6 min
Average of the job: 1 min 50 s
Overdue: ✗ yes`);
    const interrupted = toText(await readPage({ running: { ...running, interruptedAtMs: startMs + 300_000 } }));
    expect(interrupted).toContain(`#4711: interrupted, but still listed as running
The restart of the server at 03:22 UTC interrupted the execution. If the job does not start again, mark the execution as incomplete on the server. As reported`);
    const waiting = { ...running, isWaiting: true, isOverdue: false, startedAtMs: Number.POSITIVE_INFINITY };
    expect(toText(await readPage({ running: waiting }))).toMatch(/^…nightly\/&#60;settle&#62; #4711: waits to run\n/);
    const later = { ...waiting, startedAtMs: startMs + 500_000 };
    expect(toText(await readPage({ running: later }))).toContain('Runs at: 2024-05-20 03:26:15 UTC');
  });

  it.each([
    ['Step 1 failed', [span('step 1', { path: '1', result: 'failure', hasFailed: true, why: 'failed' })]],
    ['Step 1 (Build) failed: JobFailed', [span('Build', { path: '1', ...failure, why: 'failed, JobFailed' })]],
    [
      'Step 1 (Build) failed on web01: NonZeroResultCode',
      [
        span('Build', { path: '1', ...failure, why: 'failed, NonZeroResultCode below' }),
        span('web01', { path: '1@web01', depth: 2, ...failure }),
      ],
    ],
  ])('names the first failed step: %s', async (said, below) => {
    const root = span('RUN', { ...failure, depth: 0, why: 'the execution failed; nothing gives a reason' });
    const page = await readPage({ execution: pastExecution({ spans: [root, ...below] }) });
    expect(toText(page)).toContain(`\n${said}.\n`);
  });

  it('names who stopped an execution with failed steps', async () => {
    const root = span('RUN', { depth: 0, result: 'cancellation', why: 'ana aborted it' });
    const step = span('Build', { path: '1', ...failure });
    const page = toText(await readPage({ execution: pastExecution({ spans: [root, step] }) }));
    expect(page).toContain('#4711: aborted\nWhy: ana aborted it.\n');
  });

  it('distinguishes two similar ids', async () => {
    const execution = pastExecution();
    for (const id of ['4711x', '-1', '1e3', '0x10', '9007199254740993', '4711.0', '%204711']) {
      expect({ id, status: (await read({ execution, path: `/executions/prod/${id}` })).status }).toEqual({
        id,
        status: 404,
      });
    }
  });

  it('escapes all text', async () => {
    let execution = pastExecution();
    const tracing = { isOn: true, servers: ['prod'] };
    const options = {
      find: async () => execution,
      running: () => undefined,
      ended: () => [],
      cause: () => undefined,
      urlOf: () => undefined,
      tracing: () => tracing,
      silence,
      traceLink: () => undefined,
      nowMs: () => 0,
    };
    const { ask } = await serve([executionPageRoute(options)]);
    const areEscaped = await isEscaped(async (text) => {
      const given = { name: text, path: text, why: text, result: text, remarks: [text] };
      execution = pastExecution({
        server: text,
        project: text,
        job: text,
        traceId: text,
        permalink: text,
        notes: [text],
        facts: [{ name: text, value: text }],
        spans: [span(text, { ...given, depth: 0 }), span(text, { ...given, hasFailed: true })],
      });
      return (await ask('/executions/prod/1')).body;
    });
    expect(areEscaped).toBe(true);
  });
});
