import { describe, expect, it } from 'vitest';
import { createEnrichLoop } from '../../../src/tracing/enrich/loop.ts';

/** Creates a loop in which the test ends passes and waits. */
function setUp(answers: readonly (number | undefined | Error)[]) {
  const told: string[] = [];
  const naps: { readonly end: () => void; readonly signal: AbortSignal }[] = [];
  let passes = 0;
  const loop = createEnrichLoop(
    {
      run: async () => {
        const answer = answers[passes];
        passes += 1;
        told.push(`pass ${passes}`);
        if (answer instanceof Error) throw answer;
        return { againInMs: answer };
      },
    },
    (error) => told.push(String(error)),
    (forMs, signal) =>
      new Promise<void>((resolve) => {
        told.push(`wait ${forMs}`);
        naps.push({ end: resolve, signal });
        signal.addEventListener('abort', () => resolve());
      }),
  );
  const turn = async (): Promise<readonly string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return told.splice(0);
  };
  return { loop, turn, endNap: () => naps.at(-1)?.end() };
}

describe('tracing/enrich/loop', () => {
  it('waits as long as the last pass requested', async () => {
    const { loop, turn, endNap } = setUp([250, undefined]);
    loop.start();
    expect(await turn()).toEqual(['pass 1', 'wait 250']);
    endNap();
    expect(await turn()).toEqual(['pass 2', 'wait 60000']);
    await loop.stop();
  });

  it('runs one pass at a time', async () => {
    const { loop, turn } = setUp([250]);
    loop.start();
    loop.start();
    expect(await turn()).toEqual(['pass 1', 'wait 250']);
    await loop.stop();
  });

  it('starts immediately whenever there is work', async () => {
    const { loop, turn } = setUp([undefined, undefined, undefined]);
    loop.start();
    expect(await turn()).toEqual(['pass 1', 'wait 60000']);
    loop.wake();
    expect(await turn()).toEqual(['pass 2', 'wait 60000']);
    loop.wake();
    expect(await turn()).toEqual(['pass 3', 'wait 60000']);
    await loop.stop();
  });

  it('continues later after an error, and reports it', async () => {
    const { loop, turn, endNap } = setUp([new Error('a mistake of ours'), 250]);
    loop.start();
    expect(await turn()).toEqual(['pass 1', 'Error: a mistake of ours', 'wait 15000']);
    endNap();
    expect(await turn()).toEqual(['pass 2', 'wait 250']);
    await loop.stop();
  });

  it('starts no pass after it was stopped', async () => {
    const { loop, turn } = setUp([undefined]);
    loop.start();
    await turn();
    await loop.stop();
    loop.wake();
    expect(await turn()).toEqual([]);
  });
});
