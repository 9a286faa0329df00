import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { eventually } from '../../support/eventually.ts';
import { accept, startSink } from '../../tracing/deliver/sink.ts';
import { createDice } from '../../world/dice.ts';
import { createWatch } from './composition.ts';
import { configure } from './configured.ts';
import { createEstate } from './estate.ts';
import { compare, type Expectation, expect } from './expectation.ts';
import { expectTraces } from './expected-traces.ts';
import { createHandClock } from './hand-clock.ts';
import { type ReadTrace, readTraces } from './otlp-reader.ts';
import { createPublished } from './published.ts';
import { createTracing } from './tracing.ts';
import { createTraffic } from './traffic.ts';
import { birthMs } from './world.ts';

export type TracedRun = {
  /** The series in a scrape after each round with work. */
  readonly shown: readonly string[];
  readonly faults: readonly string[];
  readonly expected: Expectation;
  /** The expected trace ids that did not arrive. */
  readonly missing: readonly string[];
  readonly traces: readonly ReadTrace[];
  readonly metrics: Readonly<Record<string, number>>;
  /** The number of requests for single executions during the work. */
  readonly asked: number;
};

type Given = {
  /** Adds a problem to requests for single executions. Without this function, the daemon makes no traces. */
  readonly trouble?: (control: Simulator['control']) => void;
};

const rounds = 40;
const requestTimeoutMs = 1000;

/** Plays the same work with a daemon, then hours without work until every trace is complete. */
export async function runTraced({ trouble }: Given): Promise<TracedRun> {
  let asked = 0;
  const simulator = await startSimulator({
    scenario: 'empty',
    clock: 'free',
    apiVersion: 47,
    retained: Number.POSITIVE_INFINITY,
    threadPoolSize: 100,
    onRequest: ({ path }) => {
      asked += Number(/\/execution\/\d+/.test(path));
    },
  });
  const { control, url } = simulator;
  const estate = createEstate(control);
  const dir = mkdtempSync(join(tmpdir(), 'traced-world-'));
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, simulator.token);
  const clock = createHandClock(birthMs);
  const state = openSqliteState({ memory: true });
  const traces: ReadTrace[] = [];
  const sink = await startSink((response, request) => {
    traces.push(...readTraces(request.body));
    accept(response);
  });
  const wrongs: string[] = [];
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url };
  const tracing =
    trouble &&
    createTracing({
      order: { env, ...(await configure(url, 'seal_timeout: 10m')) },
      state,
      clock,
      tell: (says, what) => wrongs.push(`${says}: ${what}`),
    });
  const published = createPublished();
  const shown: string[] = [];
  let text = '';
  const watch = createWatch({
    url,
    tokenFile,
    ledger: state.ledger,
    rules: { backfillMs: 0, holdNewSeriesMs: 0 },
    publish: (next) => {
      text = next;
      published.take(next);
    },
    clock,
    timeoutMs: requestTimeoutMs,
    ...(tracing === undefined ? {} : { trace: tracing.trace }),
  });

  async function round(advanceMs: number): Promise<void> {
    clock.set(clock.now() + advanceMs);
    simulator.advance(advanceMs);
    const fault = await watch.round(clock.now());
    if (fault !== undefined) wrongs.push(fault);
  }

  try {
    trouble?.(control);
    const passTraffic = createTraffic({ simulator, estate, random: createDice(1) });
    await round(0);
    for (let count = 0; count < rounds; count += 1) {
      passTraffic(clock.now(), clock.now() + roundMs);
      await round(roundMs);
      shown.push(text);
    }
    const askedMeanwhile = asked;
    control.setExecutionMode('passive');
    for (let count = 0; count < 20; count += 1) await round(roundMs);
    let [before, unchanged] = ['', 0];
    await eventually(
      async () => {
        const { pending, spooled } = (await tracing?.look()) ?? { pending: 0, spooled: 0 };
        if (pending + spooled === 0) return;
        const now = `${pending} pending, ${spooled} spooled`;
        unchanged = now === before ? unchanged + 1 : 0;
        // The clock advances, so that waiting traces become complete.
        if (unchanged >= 20) await round(sealTimeoutMs + 60_000);
        before = now;
        throw new Error(now);
      },
      { limitMs: 120_000 },
    );
    const { executions } = simulator.truth();
    const contract = { countedFromMs: birthMs, hiddenJobs: [], gone: new Set<string>(), newDatabasesAt: [] };
    const expected = expect(executions, contract);
    const ids = new Set(expectTraces(expected.counted, url, () => 1).keys());
    const arrived = new Set(traces.map(({ traceId }) => traceId));
    return {
      shown,
      faults: [...compare(expected.series, published.latest()), ...published.falls, ...wrongs],
      expected,
      missing: tracing === undefined ? [] : [...ids, ...arrived].filter((id) => !ids.has(id) || !arrived.has(id)),
      traces,
      metrics: (await tracing?.look())?.metrics ?? {},
      asked: askedMeanwhile,
    };
  } finally {
    await watch.close();
    await tracing?.stop();
    await sink.stop();
    await state.close();
    await simulator.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const roundMs = 15_000;
const sealTimeoutMs = 600_000;
