import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SpanSource } from '../src/domain/span-source.ts';
import { encodeTrace } from '../src/tracing/deliver/encode.ts';
import { createSource, planExecution } from './trace-source.ts';

const rounds = 5;
const spansARound = 100_000;

/** Measures the path from decoded answers to the bytes of a request, in CPU time. */
export async function run() {
  return [
    await measure('ordinary runs', { steps: 10, nodes: 4 }),
    await measure('runs of 100 steps on 40 nodes', { steps: 100, nodes: 40 }),
  ];
}

/**
 * Measures our path and the SDK's in turns. The SDK has its own thread, so that no path profits from the other's optimised code.
 */
async function measure(what: string, { steps, nodes }: { readonly steps: number; readonly nodes: number }) {
  const source = createSource(steps, nodes);
  const sdk = new Worker(new URL('sdk-encoding.ts', import.meta.url), { workerData: { steps, nodes, spansARound } });
  const ours: number[] = [];
  const ofSdk: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const spans = await measureRound(async () => encodeRound(source));
    const spansOfSdk = await measureRound(async () => {
      sdk.postMessage('round');
      // This cast is safe: the thread answers with numbers.
      return ((await once(sdk, 'message')) as [number])[0];
    });
    // The first round is a warm-up.
    if (round === 0) continue;
    ours.push(spans);
    ofSdk.push(spansOfSdk);
  }
  await sdk.terminate();
  const reached = median(ours);
  return {
    what: `spans planned and encoded, ${what}`,
    figure: `${reached.toFixed(0)} a second of CPU; the SDK starts, ends and encodes ${median(ofSdk).toFixed(0)}, without planning`,
    mustReach: '>= 80000 a second of CPU',
    reached: reached >= 80_000,
  };
}

/** Returns the spans a second of CPU time; the work returns its number of spans. */
async function measureRound(work: () => Promise<number>): Promise<number> {
  const startedAt = process.cpuUsage();
  const spans = await work();
  const used = process.cpuUsage(startedAt);
  return (spans / (used.user + used.system)) * 1_000_000;
}

function encodeRound(source: SpanSource): number {
  let spans = 0;
  for (let id = 1; spans < spansARound; id += 1) {
    const trace = planExecution(source, id);
    encodeTrace(trace, 'protobuf');
    spans += trace.spans.length;
  }
  return spans;
}

function median(figures: readonly number[]): number {
  return figures.toSorted((left, right) => left - right)[Math.floor(figures.length / 2)] ?? 0;
}
