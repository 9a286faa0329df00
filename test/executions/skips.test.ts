import { describe, expect, it } from 'vitest';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { type Skip, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createSkips } from '../../src/executions/open-round.ts';
import { createFakeApi, refusal } from './fake-api.ts';
import { createMemoryLedger } from './memory-ledger.ts';

const dayMs = 86_400_000;
const firstMs = Date.UTC(2024, 4, 1);

describe('executions/skips', () => {
  it('counts skipped executions a week at a time', async () => {
    const scene = await createScene([toSkip(0, 15), toSkip(20, 21, 'outage')], () => 4);
    await scene.look();
    expect(scene.asked).toEqual(['0 … 7', '7 … 14', '14 … 15', '20 … 21']);
    expect(scene.skipped).toEqual(['disabled 4', 'disabled 4', 'disabled 4', 'outage 4']);
    expect(scene.told).toEqual([
      'pay: 12 executions were skipped because they ended before the catch-up limit',
      'pay: 4 executions were skipped because they ended before the catch-up limit',
    ]);
    expect(scene.left()).toBeUndefined();
    await scene.look();
    expect(scene.asked).toHaveLength(4);
  });

  it('sends at most five requests at once', async () => {
    const scene = await createScene([toSkip(0, 70)], () => 1);
    await scene.look();
    expect(scene.asked).toHaveLength(5);
    expect(scene.left()).toEqual([{ ...toSkip(35, 70), runs: 5, isUnknown: false }]);
    let questions = 2;
    await scene.look(() => questions-- > 0);
    expect(scene.asked).toHaveLength(7);
    await scene.look();
    expect(scene.told).toEqual(['pay: 10 executions were skipped because they ended before the catch-up limit']);
  });

  it('reports nothing for a span without executions', async () => {
    const scene = await createScene([toSkip(0, 3)], () => 0);
    await scene.look();
    expect([scene.skipped, scene.told, scene.left()]).toEqual([[], [], undefined]);
  });

  it('reports an incomplete count after three tries', async () => {
    const scene = await createScene([toSkip(0, 10)], (fromDay) => {
      if (fromDay === 0) throw refusal('server');
      return 3;
    });
    let questions = 2;
    await scene.look(() => questions-- > 0);
    expect(scene.asked).toEqual(['0 … 7', '0 … 7']);
    expect(scene.left()).toEqual([toSkip(0, 10)]);
    await scene.look();
    expect(scene.asked).toEqual(['0 … 7', '0 … 7', '0 … 7', '7 … 10']);
    expect(scene.skipped).toEqual(['disabled 3']);
    expect(scene.told).toEqual([
      'pay: executions that ended before 2024-05-11T00:00:00.000Z were skipped; the server reported only 3 of them',
    ]);
  });

  it('counts skipped executions once, even after a failed write', async () => {
    const scene = await createScene([toSkip(0, 3)], () => 4);
    scene.fill(true);
    await expect(scene.look()).rejects.toThrow('the disk is full');
    scene.fill(false);
    await scene.look();
    expect([scene.skipped, scene.left()]).toEqual([['disabled 4'], undefined]);
  });

  it('counts the attempts of each week separately', async () => {
    let asked = 0;
    const scene = await createScene([toSkip(0, 14)], () => {
      asked += 1;
      if (asked !== 3 && asked !== 6) throw refusal('server');
      return 1;
    });
    await scene.look();
    await scene.look();
    expect(scene.asked).toEqual(['0 … 7', '0 … 7', '0 … 7', '7 … 14', '7 … 14', '7 … 14']);
    expect(scene.told).toEqual(['pay: 2 executions were skipped because they ended before the catch-up limit']);
  });

  it('does not give up a skipped window after refused credentials', async () => {
    const scene = await createScene([toSkip(0, 3)], () => {
      throw refusal('unauthorized');
    });
    for (let times = 0; times < 4; times += 1) await expect(scene.look()).rejects.toThrow('refused: unauthorized');
    expect(scene.left()).toEqual([toSkip(0, 3)]);
  });
});

/** The span from the start of one day of the month to the start of another. */
function toSkip(fromDay: number, toDay: number, reason = 'disabled'): Skip {
  return { beginMs: firstMs + fromDay * dayMs, endMs: firstMs + toDay * dayMs - 1, reason };
}

async function createScene(skips: readonly Skip[], totalFrom: (fromDay: number) => number) {
  const ledger = createMemoryLedger();
  let isFull = false;
  const commit: typeof ledger.commit = async (...change) => {
    if (isFull) throw new Error('the disk is full');
    await ledger.commit(...change);
  };
  const cache = await openLedgerCache({ ...ledger, commit }, 'prod');
  await cache.update(async () => ({ states: [{ ...toNewProject('pay', 0), skips }] }));
  const asked: string[] = [];
  const skipped: string[] = [];
  const told: string[] = [];
  const { api } = createFakeApi(({ query: { begin = 0, end = 0 } }) => {
    const fromDay = (begin - firstMs) / dayMs;
    asked.push(`${fromDay} … ${(end + 1 - firstMs) / dayMs}`);
    return { total: totalFrom(fromDay), items: [], oddRows: [] };
  });
  const count = createSkips({
    cache,
    observe: { skipped: (reason, runs) => skipped.push(`${reason} ${runs}`) },
    tell: (message) => told.push(message),
  });
  return {
    asked,
    skipped,
    told,
    left: () => cache.states.get('pay')?.skips,
    fill: (isFullNow: boolean) => {
      isFull = isFullNow;
    },
    look: (mayGoOn = (): boolean => true) => count(() => api, mayGoOn),
  };
}
