import { describe, expect, it } from 'vitest';
import {
  type CountRequest,
  createCountExecutions,
  type ExecutionsObserver,
  noteOneTimeRuns,
} from '../../src/executions/ledger/count-executions.ts';
import { isSoundDocument } from '../../src/executions/ledger/document-shapes.ts';
import { type LedgerCache, openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { hourMs } from '../support/durations.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { someRun, someRunning } from './some-execution.ts';

describe('executions/count-executions', () => {
  it('gives each run the epoch of its database', async () => {
    const { accept, traced } = await createScene();
    await accept([run(990, 100)]);
    await accept([run(991, 126), run(2, 128), run(1, 127)]);
    await accept([run(992, 126.5)]);
    await accept([run(3, 129)]);
    expect(traced).toEqual(['990 in 1', '991 in 1', '2 in 2', '1 in 2', '992 in 1', '3 in 2']);
  });

  it('removes the ids of the previous database', async () => {
    const { accept, epoch, reopen } = await createScene();
    await accept([run(990, 100)]);
    await accept([run(1, 130)]);
    await accept([run(2, 160)]);
    expect(epoch()).toBe(2);
    await reopen();
    await accept([run(3, 190)]);
    expect(epoch()).toBe(2);
  });

  it('starts a third epoch soon after the second', async () => {
    const { accept, traced } = await createScene();
    await accept([run(1, 100), run(2, 101)]);
    await accept([run(1, 90), run(2, 91), run(3, 92)]);
    await accept([run(3, 110), run(4, 111)]);
    expect(traced.slice(2)).toEqual(['1 in 2', '2 in 2', '3 in 2', '3 in 3', '4 in 3']);
  });

  it('starts series at the time from which executions are read', async () => {
    const { accept, starts } = await createScene(toNewProject('pay', 50 * hourMs));
    await accept([run(990, 100)]);
    expect([...new Set(starts())]).toEqual([50 * 3600]);
  });

  it.each([
    ['an hour at a time', {}, 1],
    ['on from where it stopped', { prunedThroughMs: 5 * hourMs }, 6],
  ])('removes old entries %s, also from before the start of counting', async (_what, more, prunedHours) => {
    const state = { ...toNewProject('pay', 50 * hourMs), prunedThroughMs: 0, scannedThroughMs: 100 * hourMs, ...more };
    const { accept, stateOf } = await createScene(state, 10 * hourMs);
    await accept([run(990, 100)]);
    expect(stateOf()).toMatchObject({ prunedThroughMs: prunedHours * hourMs, countedFromMs: 50 * hourMs });
  });

  it('stores only what the next start accepts', async () => {
    const { accept, note, documents } = await createScene();
    await note([someRunning({ id: 3, status: 'scheduled' })]);
    await accept([run(990, 100), run(991, 120)]);
    const kept = await documents();
    expect(kept.filter(({ kind, body = '' }) => !isSoundDocument(kind, JSON.parse(body)))).toEqual([]);
    expect(kept.flatMap(({ kind, key }) => (kind === 'id-hour' ? [key] : []))).toEqual(['100', '120']);
  });

  it('counts a run although the clock was set back during the round', async () => {
    const { accept, traced, observed } = await createScene();
    await accept([run(990, 1000)]);
    await accept([run(991, 280)], { serverTimes: [280 * hourMs] });
    await accept([run(992, 400)]);
    expect(traced).toEqual(['990 in 1', '991 in 1']);
    expect(observed()).toEqual(['observed 2', 'imported 1']);
  });

  it('keeps a waiting one-time run until it is finished', async () => {
    const { accept, epoch, reopen, note, oneTimeIds } = await createScene();
    await note([someRunning({ id: 3, status: 'scheduled' }), someRunning({ id: 4 })]);
    await accept([run(990, 100)]);
    await reopen();
    await note([someRunning({ id: 3, status: 'scheduled' }), someRunning({ id: 5, status: 'scheduled' })]);
    await note([someRunning({ id: 3, status: 'running' })]);
    expect(oneTimeIds()).toEqual([3, 5]);
    await accept([{ ...run(3, 130), type: undefined }]);
    expect(epoch()).toBe(1);
    expect(oneTimeIds()).toEqual([5]);
    await accept([{ ...run(4, 130), type: undefined }]);
    expect(epoch()).toBe(2);
  });

  it('reports every kind of row', async () => {
    const { accept, observed } = await createScene();
    const twin = { id: 'b-2', name: 'settle', group: 'nightly', averageDurationMs: undefined };
    await accept(
      [
        run(1, 100),
        { ...run(2, 101), startedAtMs: 102 * hourMs },
        { ...run(3, 102), lacksStart: true },
        { ...run(4, 103), job: twin },
        { ...run(5, 104), job: twin, status: 'other' },
        { ...run(6, 105), job: twin, status: 'other', customStatus: 'parked' },
      ],
      { lateBeforeMs: 101 * hourMs },
    );
    await accept([run(7, 10)]);
    expect(observed()).toEqual([
      'observed 6',
      'late 1',
      'imported 1',
      'negative 1',
      'no_start 1',
      'merged 1',
      'unknown status 1',
    ]);
  });

  it('notifies tracing of new executions only', async () => {
    const { accept, traced, kept } = await createScene();
    await accept([run(1, 100)]);
    await accept([run(1, 100)]);
    expect(traced).toEqual(['1 in 1']);
    expect(kept).toEqual([[1]]);
  });
});

function run(id: number, hour: number) {
  return someRun({ id, startedAtMs: hour * hourMs, endedAtMs: hour * hourMs + 5000 });
}

async function createScene(state = toNewProject('pay', 0), keepMs = 1e12) {
  const { ledger } = openSqliteState({ memory: true });
  const traced: string[] = [];
  const kept: number[][] = [];
  let seenAtMs = 0;
  const observed = new Map<string, number>();
  let cache: LedgerCache;
  let takeIn: (acceptance: CountRequest) => Promise<unknown>;

  async function open(): Promise<void> {
    cache = await openLedgerCache(ledger, 'upstream');
    takeIn = createCountExecutions({
      server: 'upstream',
      cache,
      ledger,
      rules: { buckets: [1] },
      isWantedJob: () => true,
      observe: toObserver((what, count) => observed.set(what, (observed.get(what) ?? 0) + count)),
      keepMs,
      clock: fakeClock(),
      commitHook: {
        keep: (_project, runs, epoch) => {
          traced.push(...runs.map(({ id }) => `${id} in ${epoch}`));
          return [];
        },
        kept: (_project, runs) => {
          kept.push(runs.map(({ id }) => id));
        },
      },
    });
  }

  await ledger.commit('upstream', { documents: [toDocument(state)] });
  await open();
  return {
    traced,
    kept,
    observed: () => [...observed].flatMap(([what, count]) => (count === 0 ? [] : [`${what} ${count}`])),
    /** Reads the rows after the last of them has ended. */
    accept: async (rows: CountRequest['rows'], more: Pick<CountRequest, 'lateBeforeMs' | 'serverTimes'> = {}) => {
      seenAtMs = Math.max(seenAtMs, ...rows.map(({ endedAtMs = 0 }) => endedAtMs));
      await takeIn({ project: 'pay', rows, seenAtMs, ...more });
    },
    note: (running: Parameters<typeof noteOneTimeRuns>[1]) => noteOneTimeRuns(cache, running),
    starts: () => [...cache.totals.cells.values()].map(({ startSeconds }) => startSeconds),
    epoch: () => cache.facts().epoch,
    stateOf: () => cache.states.get('pay'),
    oneTimeIds: () => cache.facts().oneTimeIds,
    documents: () => ledger.load('upstream'),
    reopen: open,
  };
}

function toDocument(state: ProjectState) {
  return { kind: 'project', key: state.project, body: JSON.stringify(state) };
}

function toObserver(note: (what: string, count: number) => void): ExecutionsObserver {
  return {
    observed: (count) => note('observed', count),
    late: (count) => note('late', count),
    imported: (count) => note('imported', count),
    unmeasured: note,
    skipped: note,
    dropped: note,
    unknownValue: (field) => note(`unknown ${field}`, 1),
  };
}
