import { describe, expect, it, onTestFinished } from 'vitest';
import { accept, startSink } from '../../tracing/deliver/sink.ts';
import { finishSome, settle } from './cards.ts';
import { configure } from './configured.ts';
import { compare, expect as expectSeries } from './expectation.ts';
import type { Waiting } from './tracing.ts';
import { startWorld, type World } from './world.ts';

const maxPending = 300;
const maxBytes = 128 * 1024;
const roundsOfQuarter = 50;
const perRound = 120;
const tooOld = 7;

describe('end-to-end/delivery/outage', () => {
  it('faults/row-29: uses constant memory and disk without a trace backend', async () => {
    const undelivered: string[] = [];
    const world = await start((what) => undelivered.push(what));
    const weights: number[][] = [];
    for (let quarter = 0; quarter < 4; quarter += 1) {
      weights.push(await playQuarter(world));
      if (quarter === 1) await findSomeTooLate(world);
    }
    world.simulator.control.setExecutionMode('passive');
    await settle(world);

    const { counted, series } = expectSeries(world.simulator.truth().executions, {
      ...world.contract,
      hiddenJobs: [world.estate.hiddenJob],
    });
    expect(compare(series, world.published.latest())).toEqual([]);
    expect([world.published.falls, world.complaints]).toEqual([[], []]);
    expect(undelivered.length).toBeGreaterThan(10);

    const { pending, spooled, metrics } = (await world.daemon.look()) ?? nothing;
    const read = (name: string): number => metrics[name] ?? 0;
    const ofMany = read('traces_skipped_total{server="upstream",reason="max_pending"}');
    const ofAge = read('traces_skipped_total{server="upstream",reason="max_age"}');
    const size = `${read('spool_bytes')} bytes`;
    process.stdout.write(
      `${counted.length} counted, ${spooled} spooled in ${size}, ${pending} pending, ${ofMany} left out\n`,
    );
    expect(pending).toBe(maxPending);
    expect(read('spool_bytes')).toBeGreaterThan(0.9 * maxBytes);
    // The last trace may exceed the limit.
    expect(read('spool_bytes')).toBeLessThan(1.1 * maxBytes);
    expect(ofAge).toBe(tooOld);
    expect(spooled + pending + ofMany + ofAge).toBe(counted.filter(({ status }) => status !== 'missed').length);
    expect(read('traces_quarantined')).toBe(0);

    const [, second = [], , last = []] = weights;
    process.stdout.write(`memory: ${weights.map((each) => each.map(toMib).join(' ')).join(' | ')} MiB\n`);
    expect(Math.max(...last)).toBeLessThanOrEqual(1.1 * Math.max(...second));
    // A leak of some hundred bytes per execution would exceed this limit.
    expect((last.at(-1) ?? 0) / (last[0] ?? 0)).toBeLessThan(1.025);
  }, 300_000);
});

const nothing: Waiting = { pending: 0, spooled: 0, metrics: {} };

async function start(onUndelivered: (what: string) => void): Promise<World> {
  const { url: endpoint, stop } = await startSink(accept);
  await stop();
  const spool = `spool: { max_bytes: ${maxBytes / 1024}KiB, max_pending: ${maxPending} }`;
  const world = await startWorld({
    seed: 1,
    backfillMs: 0,
    holdNewSeriesMs: 0,
    roundsPerKill: Number.POSITIVE_INFINITY,
    tracing: async (url) => ({
      env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint },
      ...(await configure(url, 'max_age: 1h', spool)),
    }),
    hear: (word) => {
      if (word.says === 'undelivered') onUndelivered(word.what);
    },
  });
  onTestFinished(world.stop);
  await world.round({ isCalm: true, advanceMs: 0 });
  await settle(world);
  return world;
}

/** Plays a quarter of the work, and measures memory five times. */
async function playQuarter(world: World): Promise<number[]> {
  const weights: number[] = [];
  for (let count = 1; count <= roundsOfQuarter; count += 1) {
    const { project, jobs } = world.random.pick(world.estate.places);
    finishSome(world, project, perRound, jobs[0]);
    await world.round({ isCalm: true, advanceMs: 15_000 });
    if (count % (roundsOfQuarter / 5) === 0) weights.push((await world.daemon.weigh()) ?? 0);
  }
  return weights;
}

/** Shows some runs only after the maximum age of traces. */
async function findSomeTooLate(world: World): Promise<void> {
  const { control } = world.simulator;
  control.setExecutionMode('passive');
  await settle(world);
  control.createProject('away for hours');
  await settle(world);
  control.changeProject('away for hours', { disabled: true });
  await settle(world);
  finishSome(world, 'away for hours', tooOld);
  for (let minutes = 0; minutes < 80; minutes += 10) await world.round({ isCalm: true, advanceMs: 600_000 });
  control.changeProject('away for hours', { disabled: false });
  await settle(world);
  control.setExecutionMode('active');
}

function toMib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
