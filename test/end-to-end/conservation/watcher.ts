import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { createWatch, type Watch, type WatchRules } from './composition.ts';
import { createPoints, type StopPoint } from './points.ts';

/** What the process is told, a line of JSON each. */
export type Order =
  | {
      readonly do: 'open';
      readonly url: string;
      readonly tokenFile: string;
      readonly dir: string;
      readonly rules: WatchRules;
    }
  | { readonly do: 'round'; readonly nowMs: number; readonly stopAt?: StopPoint };

/** What it says: a line of JSON each, written before anything else happens. */
export type Word =
  | { readonly says: 'ready' | 'opened' }
  | { readonly says: 'published'; readonly text: string }
  | { readonly says: 'stopped'; readonly point: StopPoint }
  | { readonly says: 'done'; readonly fault: string | undefined };

const points = createPoints((point) => say({ says: 'stopped', point }));
let watch: Watch | undefined;
let before = '';

async function follow(order: Order): Promise<void> {
  if (order.do === 'open') {
    const { ledger } = openSqliteState({ dir: order.dir });
    watch = createWatch({ ...order, ledger: points.around(ledger), publish });
    say({ says: 'opened' });
    return;
  }
  points.arm(order.stopAt);
  const fault = await watch?.round(order.nowMs);
  say({ says: 'done', fault });
}

function publish(text: string): void {
  if (text !== before) say({ says: 'published', text });
  before = text;
  points.published();
}

/** At once and whole: the process may not live to see the next turn of its loop. */
function say(word: Word): void {
  const bytes = Buffer.from(`${JSON.stringify(word)}\n`);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  } catch {
    // Nobody listens any more.
    process.exit(1);
  }
}

// The cast is true: the test writes these lines.
createInterface({ input: process.stdin }).on('line', (line) => void follow(JSON.parse(line) as Order));
say({ says: 'ready' });
