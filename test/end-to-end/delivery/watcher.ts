import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { createWatch, type Watch, type WatchRules } from './composition.ts';
import { createHandClock } from './hand-clock.ts';
import { createPoints, type StopPoint } from './points.ts';
import { createTracing, type Tracing, type TracingOrder, type Waiting } from './tracing.ts';

/** Orders to the process, one JSON line each. */
export type Order =
  | {
      readonly do: 'open';
      readonly nowMs: number;
      readonly url: string;
      readonly tokenFile: string;
      readonly dir: string;
      readonly rules: WatchRules;
      readonly tracing: TracingOrder;
    }
  | { readonly do: 'round'; readonly nowMs: number; readonly stopAt?: StopPoint }
  /** Requests the waiting traces. */
  | { readonly do: 'look' }
  /** Requests the memory in use after garbage collection. */
  | { readonly do: 'weigh' };

/** Words of the process, one JSON line each; the process writes a word before it continues. */
export type Word =
  | { readonly says: 'ready' | 'opened' }
  | { readonly says: 'published'; readonly text: string }
  | { readonly says: 'stopped'; readonly point: StopPoint }
  | { readonly says: 'done'; readonly fault: string | undefined }
  | { readonly says: 'undelivered' | 'wrong'; readonly what: string }
  | { readonly says: 'waiting'; readonly waiting: Waiting | undefined }
  | { readonly says: 'weight'; readonly bytes: number };

const points = createPoints((point) => say({ says: 'stopped', point }));
const clock = createHandClock();
let watch: Watch | undefined;
let tracing: Tracing | undefined;
let before = '';

async function follow(order: Order): Promise<void> {
  if (order.do === 'open') {
    clock.set(order.nowMs);
    const state = openSqliteState({ dir: order.dir });
    const ledger = points.around(state.ledger);
    tracing = createTracing({
      order: order.tracing,
      state: { ...state, ledger },
      clock,
      answered: points.answered,
      tell,
    });
    watch = createWatch({ ...order, clock, ledger, publish, trace: tracing.trace });
    say({ says: 'opened' });
  } else if (order.do === 'round') {
    points.arm(order.stopAt);
    const fault = await watch?.round(order.nowMs);
    say({ says: 'done', fault });
  } else if (order.do === 'look') {
    say({ says: 'waiting', waiting: await tracing?.look() });
  } else {
    say({ says: 'weight', bytes: weigh() });
  }
}

function weigh(): number {
  setFlagsFromString('--expose-gc');
  // The first pass may free only the owners of some memory; later passes free that memory.
  for (let passes = 0; passes < 3; passes += 1) runInNewContext('gc()');
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function publish(text: string): void {
  if (text !== before) say({ says: 'published', text });
  before = text;
  points.published();
}

function tell(says: 'undelivered' | 'wrong', what: string): void {
  say({ says, what });
}

/** The write is synchronous, because the process may be killed immediately afterwards. */
function say(word: Word): void {
  const bytes = Buffer.from(`${JSON.stringify(word)}\n`);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  } catch {
    // The test process has ended, so this process ends too.
    process.exit(1);
  }
}

// This cast is safe: the test writes these lines.
createInterface({ input: process.stdin }).on('line', (line) => void follow(JSON.parse(line) as Order));
say({ says: 'ready' });
