import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpooledTrace } from '../../../src/state/spool.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import type { State } from '../../../src/state/state.ts';
import type { Content } from '../../../src/tracing/deliver/batch.ts';
import { PostFault, type SenderObserver } from '../../../src/tracing/deliver/observer.ts';
import type { PostAnswer } from '../../../src/tracing/deliver/post.ts';
import { createSender, type SenderOptions } from '../../../src/tracing/deliver/sender.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { makeTrace, makeTraces, splitTraces } from './made-traces.ts';

type Reply = (content: Content, index: number) => PostAnswer;

let state: State;

beforeEach(() => {
  state = openSqliteState({ memory: true });
});
afterEach(() => state.close());

describe('tracing/deliver/sender', () => {
  it('delivers all traces of the spool', async () => {
    await spool(makeTraces(50));
    const { events, sent } = await runUntilIdle(() => answer(200));

    expect(sent.map(({ bytes }) => splitTraces(bytes).length)).toEqual([50]);
    expect(events).toEqual(['delivered', 'exported 150']);
    expect(await state.spool.size()).toMatchObject({ traces: 0, bytes: 0 });
  });

  it('sends requests of up to a mebibyte', async () => {
    const sizes = [400_000, 400_000, 400_000, 4_000_000, 100];
    await spool(makeTraces(5).map((trace, index) => ({ ...trace, bytes: new Uint8Array(sizes[index] ?? 0).fill(7) })));
    const { sent } = await runUntilIdle(() => answer(200));
    expect(sent.map(({ bytes }) => bytes.length)).toEqual([800_000, 400_000, 4_000_000, 100]);
  });

  it('sends a trace in another encoding in a separate request', async () => {
    await spool([makeTrace(1), makeTrace(2, { encoding: 'json' }), makeTrace(3)]);
    const { sent } = await runUntilIdle(() => answer(200));
    expect(sent.map(({ encoding }) => encoding)).toEqual(['protobuf', 'json', 'protobuf']);
  });

  it('waits longer and longer during an outage of the backend', async () => {
    await spool(makeTraces(2));
    const { events, waits, sent } = await runUntilIdle((_, index) => {
      if (index === 0) throw new PostFault('c:4318: the connection was refused', { kind: 'network' });
      if (index === 1) throw new PostFault('c:4318: no complete answer', { kind: 'timeout' });
      return answer(index < 10 ? 429 : 200);
    });

    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000]);
    expect(events).toEqual([
      'network',
      'failing c:4318: the connection was refused',
      'timeout',
      ...Array.from({ length: 8 }, () => 'wait'),
      'delivered',
      'exported 6',
      'recovered',
    ]);
    expect(new Set(sent.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).size).toBe(1);
  });

  it('begins again with the shortest wait after a delivery', async () => {
    await spool([makeTrace(1), makeTrace(2, { encoding: 'json' })]);
    const { waits } = await runUntilIdle((_, index) => answer([503, 503, 200, 429, 200][index] ?? 200));
    expect(waits).toEqual([500, 1000, 500]);
  });

  it('does not resend traces that another replica took over during an outage', async () => {
    await spool(makeTraces(3));
    const { sent, events } = await runUntilIdle(
      (_, index) => {
        if (index < 2) return answer(503);
        return answer(200);
      },
      {
        spool: {
          ...state.spool,
          next: async (...asked) => {
            const found = await state.spool.next(...asked);
            // The first trace now belongs to the other replica.
            await state.spool.remove(['prod/1']);
            return found;
          },
        },
      },
    );
    expect(sent.map(({ bytes }) => splitTraces(bytes).length)).toEqual([3, 2, 2]);
    expect(sumOf(events, 'exported')).toBe(6);
  });

  it('stops reporting failures after another replica took over all traces', async () => {
    await spool(makeTraces(3));
    const idle = Promise.withResolvers<void>();
    const wait = async (forMs: number, signal: AbortSignal): Promise<void> => {
      if (forMs < 30_000) return state.spool.remove(['prod/1', 'prod/2', 'prod/3']);
      idle.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const { sender, events } = create(() => answer(503), { wait });
    sender.start();
    await idle.promise;
    await sender.stop(0);
    expect(events).toEqual(['wait', 'failing HTTP 503', 'recovered']);
    expect(sender.status().failing).toBeUndefined();
  });

  it('waits as long as the backend requests', async () => {
    await spool(makeTraces(1));
    const { waits } = await runUntilIdle((_, index) =>
      index === 0 ? answer(503, '', { retryAfter: '7' }) : answer(200),
    );
    expect(waits).toEqual([7000]);
  });

  it('quarantines one bad trace among fifty, with the reason', async () => {
    await spool(makeTraces(50));
    const poison = Buffer.from(makeTrace(37).bytes);
    const { events, sent } = await runUntilIdle(({ bytes }) =>
      Buffer.from(bytes).includes(poison) ? answer(400, 'bad  span\n\0at 3') : answer(200),
    );

    expect(await state.spool.quarantined()).toEqual([
      expect.objectContaining({ key: 'prod/37', spans: 3, reason: 'HTTP 400: bad span at 3', atMs: 1_700_000_000_000 }),
    ]);
    expect(sent.length).toBeLessThanOrEqual(13);
    expect(sumOf(events, 'exported')).toBe(147);
    expect(events).toContain('rejected refused 3');
    expect(events).toContain('quarantined prod 37 HTTP 400: bad span at 3');
    expect(await state.spool.size()).toMatchObject({ traces: 0, quarantinedTraces: 1 });
  });

  it('sends smaller requests after half of a split request was lost several times', async () => {
    await spool(makeTraces(50));
    const { sent } = await runUntilIdle((_, index) => {
      if (index > 0 && index < 6) throw new PostFault('c:4318: no complete answer', { kind: 'timeout', isLost: true });
      return answer(index === 0 ? 413 : 200);
    });
    expect(sent.slice(0, 7).map(({ bytes }) => splitTraces(bytes).length)).toEqual([50, 25, 25, 25, 25, 25, 12]);
  });

  it('names log records, not traces, in the reason of their quarantine', async () => {
    await spool([{ ...makeTrace(2), encoding: 'logs-protobuf' }]);
    const { events } = await runUntilIdle(() => answer(404), { signal: 'logs' });
    expect(await state.spool.quarantined()).toMatchObject([{ key: 'prod/2', reason: 'log records: HTTP 404' }]);
    expect(events).toContain('quarantined prod 2 log records: HTTP 404');
  });

  it('sends a trace again when a person retries it', async () => {
    await spool(makeTraces(1));
    await runUntilIdle(() => answer(400));
    await state.spool.retry(['prod/1']);
    const { events } = await runUntilIdle(() => answer(200));
    expect(events).toEqual(['delivered', 'exported 3']);
    expect(await state.spool.size()).toMatchObject({ traces: 0, quarantinedTraces: 0 });
  });

  it('waits longer if all traces are refused', async () => {
    await spool(makeTraces(100));
    const { events, waits } = await runUntil(() => answer(401), 5);
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(events.filter((event) => event.startsWith('quarantined'))).toHaveLength(15);
    expect(events.filter((event) => event === 'failing HTTP 401')).toHaveLength(1);
    expect(await state.spool.size()).toMatchObject({ traces: 85, quarantinedTraces: 15 });
  });

  it('resets the number of refusals after a delivery', async () => {
    // Eight rejected traces, one accepted trace, and eight rejected traces.
    await spool(
      makeTraces(17).map((trace) => ({ ...trace, encoding: Number(trace.executionId) % 2 ? 'json' : 'protobuf' })),
    );
    const { events, waits } = await runUntilIdle((_content, index) => answer(index === 8 ? 200 : 400));
    expect(events.filter((event) => event.startsWith('quarantined'))).toHaveLength(16);
    expect([waits, events.filter((event) => event.startsWith('failing'))]).toEqual([[], []]);
  });

  it('drops the oldest of too many quarantined traces', async () => {
    await spool(makeTraces(3));
    const { events } = await runUntilIdle(() => answer(400), { quarantineBounds: { maxBytes: 1e6, maxTraces: 2 } });
    expect(events).toContain('rejected dropped 3');
    expect(events).toContain('dropped 1');
    expect((await state.spool.quarantined()).map(({ executionId }) => executionId)).toEqual(['2', '3']);
  });

  it('counts the spans that a partial success rejects', async () => {
    await spool(makeTraces(2));
    const partial = '{"partialSuccess":{"rejectedSpans":"4","errorMessage":"too old"}}';
    const { events, sent } = await runUntilIdle(() => answer(200, partial, { contentType: 'application/json' }));
    expect(sent).toHaveLength(1);
    expect(events).toEqual(['delivered', 'exported 2', 'rejected partial_success 4', 'warned too old']);
  });

  it('removes secrets from messages before it shortens them', async () => {
    await spool(makeTraces(1));
    const long = `${'x'.repeat(195)}canary-4711-token`;
    await runUntilIdle(() => answer(400, long), { scrub: (text) => text.replaceAll('canary-4711-token', '<secret>') });
    const [{ reason } = { reason: '' }] = await state.spool.quarantined();
    expect(reason).toBe(`HTTP 400: ${'x'.repeat(195)}<sec…`);
  });

  it('removes delivered traces from the state in a second try', async () => {
    await spool(makeTraces(2));
    let faults = 3;
    const remove = async (keys: readonly string[]): Promise<void> => {
      if (faults-- > 0) throw new Error('database or disk is full');
      await state.spool.remove(keys);
    };
    const { events, sent, sender } = await runUntilIdle(() => answer(200), { spool: { ...state.spool, remove } });
    expect(sent).toHaveLength(1);
    expect(events.slice(-2)).toEqual(['failing the state: database or disk is full', 'recovered']);
    expect(sender.status().failing).toBeUndefined();
    expect(await state.spool.size()).toMatchObject({ traces: 0 });
  });

  it('recovers when the state can be read again', async () => {
    let faults = 3;
    const next: typeof state.spool.next = async (...asked) => {
      if (faults-- > 0) throw new Error('the database does not respond');
      return state.spool.next(...asked);
    };
    const idle = Promise.withResolvers<void>();
    const wait = async (forMs: number, signal: AbortSignal): Promise<void> => {
      if (forMs < 30_000) return;
      idle.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const { sender, events } = create(() => answer(200), { spool: { ...state.spool, next }, wait });
    sender.start();
    await idle.promise;
    await sender.stop(0);
    expect(events).toEqual(['failing the state: the database does not respond', 'recovered']);
  });

  it('completes the request in progress when it is stopped', async () => {
    await spool([makeTrace(1), makeTrace(2, { encoding: 'json' })]);
    const { promise, resolve } = Promise.withResolvers<PostAnswer>();
    const asked = Promise.withResolvers<void>();
    const { sender, sent } = create(() => {
      asked.resolve();
      return promise;
    });
    sender.start();
    await asked.promise;
    const stopped = sender.stop(5000);
    resolve(answer(200));
    await stopped;
    expect(sent).toHaveLength(1);
    expect((await state.spool.next({ maxBytes: 1e6, maxTraces: 9 })).map(({ key }) => key)).toEqual(['prod/2']);
  });

  it('cancels a request that does not end in time', async () => {
    await spool(makeTraces(2));
    const asked = Promise.withResolvers<AbortSignal>();
    const { sender } = create((_content, _index, signal) => {
      asked.resolve(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new PostFault('c: stopped', { kind: 'stopped' })));
      });
    });
    sender.start();
    await asked.promise;
    await sender.stop(20);
    expect(await state.spool.size()).toMatchObject({ traces: 2 });
  });

  it('stops immediately if it has nothing to send or was never started', async () => {
    const { sender, sent } = create(() => answer(200));
    await sender.stop(60_000);
    const { sender: second } = create(() => answer(200));
    second.start();
    await second.stop(60_000);
    expect(sent).toEqual([]);
  });

  it('reports since when and why deliveries fail', async () => {
    await spool(makeTraces(1));
    let nowMs = 1_700_000_000_000;
    const clock = fakeClock({ now: () => nowMs++, ticks: () => 0, random: () => 0.5 });
    const { sender } = await runUntil((_content, index) => answer(503, index === 0 ? 'slow' : 'full'), 3, { clock });
    expect(sender.status()).toEqual({
      failing: { sinceMs: 1_700_000_000_001, reason: 'HTTP 503: full' },
      lastDeliveredMs: undefined,
    });
    const { sender: second } = await runUntilIdle(() => answer(200));
    expect(second.status()).toEqual({ failing: undefined, lastDeliveredMs: 1_700_000_000_000 });
  });

  it('reports the size of the spool when it is woken', async () => {
    const sizes: number[] = [];
    const { sender } = create(() => answer(200), {
      observe: { ...silent([]), size: ({ traces }) => sizes.push(traces) },
    });
    await spool(makeTraces(2));
    sender.wake();
    await Promise.resolve();
    expect(sizes).toEqual([2]);
  });
});

type Ask = (content: Content, index: number, signal: AbortSignal) => PostAnswer | Promise<PostAnswer>;
type Given = Partial<
  Pick<SenderOptions, 'spool' | 'signal' | 'observe' | 'scrub' | 'quarantineBounds' | 'wait' | 'clock'>
>;

function create(ask: Ask, given: Given = {}) {
  const events: string[] = [];
  const sent: Content[] = [];
  const sender = createSender({
    spool: state.spool,
    post: {
      send: async (content, signal) => {
        sent.push(content);
        return ask(content, sent.length - 1, signal);
      },
    },
    observe: silent(events),
    scrub: (text) => text,
    quarantineBounds: { maxBytes: 1e6, maxTraces: 1000 },
    clock: fakeClock({ now: () => 1_700_000_000_000, ticks: () => 0, random: () => 0.5 }),
    ...given,
  });
  return { sender, events, sent };
}

/** Sends until the queue is empty; all waits end at once. */
function runUntilIdle(reply: Reply, given: Given = {}) {
  return runUntil(reply, Number.POSITIVE_INFINITY, given);
}

async function runUntil(reply: Reply, maxWaits: number, given: Given = {}) {
  const waits: number[] = [];
  let isDone = false;
  const done = Promise.withResolvers<void>();
  const wait = async (forMs: number, signal: AbortSignal): Promise<void> => {
    const { traces } = await state.spool.size();
    if (traces > 0 && !isDone) waits.push(forMs);
    if (traces > 0 && waits.length < maxWaits) return;
    isDone = true;
    done.resolve();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
      if (signal.aborted) resolve();
    });
  };
  const run = create(reply, { ...given, wait });
  run.sender.start();
  await done.promise;
  const status = run.sender.status();
  await run.sender.stop(0);
  return { ...run, waits, sender: { status: () => status } };
}

function silent(events: string[]): SenderObserver {
  return {
    exported: (spans) => events.push(`exported ${spans}`),
    rejected: (reason, spans) => events.push(`rejected ${reason} ${spans}`),
    warned: (message) => events.push(`warned ${message}`),
    quarantine: ({ server, executionId }, reason) => events.push(`quarantined ${server} ${executionId} ${reason}`),
    dropped: ({ executionId }) => events.push(`dropped ${executionId}`),
    request: (outcome) => events.push(outcome),
    failing: (reason) => events.push(`failing ${reason}`),
    recovered: () => events.push('recovered'),
    size: () => {},
  };
}

function answer(
  status: number,
  body = '',
  { retryAfter, contentType = 'text/plain' }: { readonly retryAfter?: string; readonly contentType?: string } = {},
): PostAnswer {
  return { status, contentType, retryAfter, bytes: Buffer.from(body), isCut: false };
}

function spool(spooled: readonly SpooledTrace[]): Promise<void> {
  return state.ledger.commit('prod', { spooled });
}

function sumOf(events: readonly string[], word: string): number {
  let sum = 0;
  for (const event of events) if (event.startsWith(`${word} `)) sum += Number(event.slice(word.length + 1));
  return sum;
}
