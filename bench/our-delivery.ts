import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../src/domain/system-clock.ts';
import type { SpooledTrace, SpoolSize } from '../src/state/spool.ts';
import { openSqliteState } from '../src/state/sqlite.ts';
import { encodeTrace } from '../src/tracing/deliver/encode.ts';
import { createWait } from '../src/tracing/deliver/pause.ts';
import { createPost } from '../src/tracing/deliver/post.ts';
import { createSender } from '../src/tracing/deliver/sender.ts';
import { type Cost, measureCost } from './cost.ts';
import { createSource, planExecution } from './trace-source.ts';

export const spansPerTrace = 51;
const tracesPerCommit = 10;
const source = createSource(10, 4);

export type Delivery = Awaited<ReturnType<typeof createDelivery>>;

/** The path of traces in the exporter: plan, encode, store, send. */
export async function createDelivery(url: string) {
  const dir = mkdtempSync(join(tmpdir(), 'automation-exporter-bench-'));
  const state = openSqliteState({ dir });
  const post = createPost({
    settings: { endpoint: `${url}/v1/traces`, headers: [], compression: 'gzip', timeoutMs: 10_000, files: {} },
    readFile: async (path) => path,
    userAgent: 'bench',
    clock: systemClock,
  });
  let told: (size: SpoolSize) => void = ignore;
  const sender = createSender({
    spool: state.spool,
    post,
    observe: {
      exported: ignore,
      rejected: ignore,
      warned: ignore,
      quarantine: ignore,
      dropped: ignore,
      request: ignore,
      failing: ignore,
      recovered: ignore,
      size: (size) => told(size),
    },
    scrub: (text) => text,
    quarantineBounds: { maxBytes: 1e9, maxTraces: 1e6 },
    clock: systemClock,
    // Two hours of waiting pass in seconds.
    wait: (forMs, signal) => createWait(systemClock)(forMs / 100, signal),
  });
  sender.start();
  let made = 0;

  function makeTrace(): SpooledTrace {
    made += 1;
    const trace = planExecution(source, made);
    if (trace.spans.length !== spansPerTrace) throw new Error('The trace does not have the expected number of spans.');
    return {
      key: String(made),
      server: 'main',
      executionId: String(made),
      startedAtMs: made,
      spooledAtMs: made,
      encoding: 'protobuf',
      spans: spansPerTrace,
      bytes: encodeTrace(trace, 'protobuf'),
    };
  }
  async function makeTraces(count: number): Promise<readonly SpooledTrace[]> {
    const traces: SpooledTrace[] = [];
    while (traces.length < count) {
      traces.push(makeTrace());
      if (traces.length % tracesPerCommit === 0) await setImmediate();
    }
    return traces;
  }
  async function spool(traces: readonly SpooledTrace[]): Promise<void> {
    for (let start = 0; start < traces.length; start += tracesPerCommit) {
      await state.ledger.commit('main', { spooled: traces.slice(start, start + tracesPerCommit) });
      sender.wake();
      await setImmediate();
    }
  }

  return {
    makeTraces,
    spool,
    made: () => made,
    makeAndSpool: async (count: number, afterEach: () => void = ignore) => {
      for (let left = count; left > 0; left -= tracesPerCommit) {
        await spool(await makeTraces(Math.min(left, tracesPerCommit)));
        afterEach();
      }
    },
    /** Measures work until no trace is waiting. */
    measure: (work: () => Promise<void>): Promise<Cost> =>
      measureCost(async () => {
        await work();
        const { promise, resolve } = Promise.withResolvers<void>();
        told = ({ traces }) => (traces === 0 ? resolve() : undefined);
        sender.wake();
        await promise;
        told = ignore;
      }),
    stop: async () => {
      await sender.stop(5000);
      post.close();
      await state.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function ignore(): void {}
