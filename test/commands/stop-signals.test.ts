import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { awaitStopSignal } from '../../src/commands/stop-signals.ts';

/** Sends signals at these times (ms); returns the log and whether the process ended. */
async function play(times: readonly number[]) {
  let nowMs = 0;
  const source = new EventEmitter() as NodeJS.Process;
  const seen: string[] = [];
  const note = (level: string) => () => void seen.push(`${level} at ${nowMs}`);
  const first = awaitStopSignal({
    log: { warn: note('warns'), error: note('says') },
    clock: { ticks: () => nowMs },
    leaveNow: note('leaves'),
    source,
  });
  for (const time of times) {
    nowMs = time;
    source.emit('SIGTERM', 'SIGTERM');
  }
  return { first: await first, seen };
}

describe('commands/stop-signals', () => {
  it.each<[string, readonly number[], readonly string[]]>([
    ['one signal', [7], []],
    ['copies of the signal within half a second', [0, 1, 2, 499], []],
    ['one more within ten seconds', [0, 600], ['warns at 600']],
    ['a third', [0, 1, 600, 700], ['warns at 600', 'says at 700', 'leaves at 700']],
    ['one more after ten seconds', [0, 10_000], ['says at 10000', 'leaves at 10000']],
  ])('ends after signals as promised: %s', async (_title, times, seen) => {
    expect(await play(times)).toEqual({ first: 'SIGTERM', seen });
  });
});
