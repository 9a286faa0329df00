import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import type { Cost } from './cost.ts';
import { createDelivery, type Delivery, spansPerTrace } from './our-delivery.ts';
import { startSdkDelivery } from './sdk-delivery.ts';
import { startSink } from './sink.ts';

type Sink = Awaited<ReturnType<typeof startSink>>;

const rounds = 5;
const tracesARound = 2000;
const turnMs = 5;
const outageSeconds = 7200;
const outageTraces = Math.ceil((outageSeconds * 100) / spansPerTrace);

/** Measures the delivery of traces, compared with the SDK, and during an outage of two hours. */
export async function run() {
  const sink = await startSink();
  const delivery = await createDelivery(sink.url);
  const sdk = startSdkDelivery(sink.url);
  const delays = createDelays();
  try {
    const sent: Cost[] = [];
    const all: Cost[] = [];
    const ofSdk: Cost[] = [];
    for (let round = 0; round <= rounds; round++) {
      ofSdk.push(await sdk.do({ traces: tracesARound, afterwards: 'flush' }));
      const traces = await delivery.makeTraces(tracesARound);
      await delays.during('rounds', async () => {
        sent.push(await delivery.measure(() => delivery.spool(traces)));
        all.push(await delivery.measure(() => delivery.makeAndSpool(tracesARound)));
      });
      await delays.during('machine', takeTurns);
    }
    const outage = await goThroughOutage(sink, delivery, delays);
    const ofMachineMs = Math.max(0, delays.p99Ms('machine') - turnMs);
    const hardships = [await goThrough('slow', sink, delivery), await goThrough('down', sink, delivery)];
    const { traces } = await sink.ask('count');
    const lost = delivery.made() - traces;
    const p99Ms = Math.max(delays.p99Ms('rounds'), delays.p99Ms('outage'));
    const flushed = toPerCpuSecond(ofSdk.slice(1)).toFixed(0);
    return [
      toRate('spans spooled and sent', sent.slice(1)),
      toRate(
        'spans planned, encoded, spooled and sent',
        all.slice(1),
        `; the SDK's batch processor ${flushed}, without planning and spooling, and flushed before it drops spans`,
      ),
      {
        what: `lost traces of ${delivery.made()}, including an outage of two hours at 100 spans a second`,
        figure: String(lost),
        mustReach: '0',
        reached: lost === 0,
      },
      ...hardships,
      {
        what: 'delivery of the traces of the outage',
        figure: `${outage.drainedTimes.toFixed(0)} times faster than the outage lasted`,
        mustReach: '>= 10 times',
        reached: outage.drainedTimes >= 10,
      },
      {
        what: `delay of the event loop, p99 of the quietest round and of the quietest quarter of the outage, without the delay of this machine in turns of ${turnMs} ms (${ofMachineMs.toFixed(1)} ms)`,
        figure: `${Math.max(0, p99Ms - ofMachineMs).toFixed(1)} ms of ${p99Ms.toFixed(1)} ms`,
        mustReach: '< 20 ms',
        reached: p99Ms - ofMachineMs < 20,
      },
      {
        what: 'memory, last quarter of the outage : second quarter',
        figure: outage.memory.toFixed(2),
        mustReach: '<= 1.1',
        reached: outage.memory <= 1.1,
      },
    ];
  } finally {
    await sdk.stop();
    await delivery.stop();
    await sink.stop();
  }
}

/** Returns a rate by the CPU time of the working thread. */
function toRate(what: string, costs: readonly Cost[], beside = '') {
  const perSecond = median(costs.map(({ seconds }) => (tracesARound * spansPerTrace) / seconds));
  const perCpuSecond = toPerCpuSecond(costs);
  return {
    what: `${what} (${perSecond.toFixed(0)} a second by the clock)`,
    figure: `${perCpuSecond.toFixed(0)} a second of CPU${beside}`,
    mustReach: '>= 50000 a second of CPU',
    reached: perCpuSecond >= 50_000,
  };
}

function toPerCpuSecond(costs: readonly Cost[]): number {
  return median(costs.map(({ cpuSeconds }) => (tracesARound * spansPerTrace) / cpuSeconds));
}

const hardship = { turns: 20, turnMs: 100, tracesATurn: 10 };

/** Sends 5,100 spans a second for two seconds to a slow or stopped collector. */
async function goThrough(word: 'slow' | 'down', sink: Sink, delivery: Delivery) {
  const { turns, turnMs: eachMs, tracesATurn } = hardship;
  async function countTaken(make: () => Promise<unknown>, finish: () => Promise<unknown>): Promise<number> {
    const before = await sink.ask(word);
    for (let turn = 0; turn < turns; turn += 1) {
      await make();
      await pause(eachMs);
    }
    await sink.ask('up');
    await finish();
    return (await sink.ask('count')).spans - before.spans;
  }
  const sdk = startSdkDelivery(sink.url);
  const made = turns * tracesATurn * spansPerTrace;
  const takenOfSdk = await countTaken(
    () => sdk.do({ traces: tracesATurn, afterwards: 'leave' }),
    () => sdk.do({ traces: 0, afterwards: 'end' }),
  );
  await sdk.stop();
  const taken = await countTaken(
    () => delivery.makeAndSpool(tracesATurn),
    () => delivery.measure(async () => undefined),
  );
  const [lost, lostBySdk] = [made - taken, made - takenOfSdk];
  return {
    what: `lost spans of ${made} that were made within two seconds while the collector was ${word}`,
    figure: `${lost}; of the SDK's batch processor ${lostBySdk} (${((lostBySdk * 100) / made).toFixed(0)} %)`,
    mustReach: '0',
    reached: lost === 0,
  };
}

type Delays = ReturnType<typeof createDelays>;

/** Measures the delays of the event loop. The smallest value counts, because other processes only add time. */
function createDelays() {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const quietest = new Map<string, number>();
  return {
    during: async (what: string, work: () => Promise<void>): Promise<void> => {
      delay.reset();
      delay.enable();
      await work();
      delay.disable();
      quietest.set(what, Math.min(quietest.get(what) ?? Number.POSITIVE_INFINITY, delay.percentile(99) / 1e6));
    },
    p99Ms: (what: string): number => quietest.get(what) ?? Number.POSITIVE_INFINITY,
  };
}

/** Measures the delay that other processes cause. */
async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    const startedCpu = process.threadCpuUsage();
    let used = 0;
    while (used < turnMs * 1000) {
      const { user, system } = process.threadCpuUsage(startedCpu);
      used = user + system;
    }
    await setImmediate();
  }
}

async function goThroughOutage({ ask }: Sink, { makeAndSpool, measure }: Delivery, delays: Delays) {
  await ask('down');
  const quarters: number[] = [];
  for (let quarter = 0; quarter < 4; quarter++) {
    let highest = 0;
    const look = () => {
      highest = Math.max(highest, process.memoryUsage.rss());
    };
    await delays.during('outage', () => makeAndSpool(Math.ceil(outageTraces / 4), look));
    quarters.push(highest);
  }
  const [, second = 1, , last = 0] = quarters;
  const { seconds } = await measure(async () => {
    await ask('up');
  });
  return { memory: last / second, drainedTimes: outageSeconds / seconds };
}

function median(figures: readonly number[]): number {
  return figures.toSorted((left, right) => left - right)[Math.floor(figures.length / 2)] ?? 0;
}
