import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/api/paging.ts';
import type { Finished } from '../../src/domain/execution.ts';
import type { CountRequest } from '../../src/executions/ledger/count-executions.ts';
import type { LedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createOverlap } from '../../src/executions/reading/overlap.ts';
import type { PlannedRead } from '../../src/executions/reading/plan-reads.ts';
import { createProjectReading } from '../../src/executions/reading/project-reading.ts';
import type { OddRows } from '../../src/executions/reading/window-reader.ts';
import { createFakeApi, type Question, refusal, toPage } from './fake-api.ts';
import { someRun } from './some-execution.ts';

const nowMs = 10_000_000;

describe('executions/project-reading', () => {
  it('stores the rows of a window', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked) });
    expect(await scene.read('live')).toMatchObject({ counted: 3, hidden: 0, isUnshown: false });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
    expect(scene.asked).toEqual(['project-executions pay 1…10000000']);
  });

  it.each([20, 2000])('counts all of %i executions except one that is too large', async (count) => {
    const large = 7;
    const scene = createScene({
      answer: (asked) => {
        const page = toPage(runs(count), asked);
        if (page.items.some(({ id }) => id === large)) throw refusal('too_large');
        return page;
      },
    });
    const result = await scene.read('live');
    await scene.readPast(100);
    expect(result.hidden).toBe(0);
    expect(scene.counted).toHaveLength(count - 1);
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
    expect(new Set(scene.odd)).toEqual(new Set(['pay size 1 after 6']));
    expect(scene.asked.length).toBeLessThan(60);
  });

  it('reads no page twice after an error, a stop or a restart', async () => {
    let fails = false;
    const answer = (asked: Question): unknown => {
      if (fails) throw refusal('timeout');
      return toPage(runs(5000), asked);
    };
    const scene = createScene({ answer });
    await scene.read('live');
    expect(scene.counted).toHaveLength(499);
    expect(scene.state()).toMatchObject({ scannedThroughMs: 0, aheadThroughMs: nowMs });
    await scene.readPast(3);
    expect(scene.counted).toHaveLength(1996);
    fails = true;
    await expect(scene.readPast(3)).rejects.toThrow('refused: timeout');
    fails = false;
    scene.restart();
    for (let round = 0; round < 10; round += 1) await scene.readPast(2);
    expect(scene.counted).toHaveLength(5000);
    expect(new Set(scene.counted.map(({ id }) => id)).size).toBe(5000);
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
    // Ten full pages, a page for the cut rows, and the failed request.
    expect(scene.asked).toHaveLength(12);
  });

  it('reads at most twenty pages of a backlog in one turn', async () => {
    const backlog = [0, nowMs / 2].map((beginMs) => ({ beginMs, endMs: beginMs + nowMs / 2 - 1 }));
    const scene = createScene({ answer: (asked) => toPage(runs(12_000), asked), aheadThroughMs: nowMs, backlog });
    await scene.readPast(100);
    expect(scene.asked).toHaveLength(20);
  });

  it('reports progress up to the oldest backlog window', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(9000), asked) });
    await scene.read('live');
    const reached: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      await scene.readPast(1);
      reached.push(scene.state().scannedThroughMs);
    }
    expect(reached).toEqual(reached.toSorted((one, other) => one - other));
    expect(new Set(reached).size).toBeGreaterThan(2);
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
  });

  it('adds the time between the last read and the window to the backlog', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked) });
    await scene.read('live', { beginMs: 8_000_000 });
    expect(scene.counted).toHaveLength(1);
    expect(scene.state()).toEqual({
      ...toNewProject('pay', 0),
      aheadThroughMs: nowMs,
      backlog: [{ beginMs: 0, endMs: 7_999_999 }],
    });
  });

  it('reads only the needed part of a wide window', async () => {
    const answer = (asked: Question): unknown => toPage(runs(5000), asked);
    const scene = createScene({ answer, scannedThroughMs: 9_900_000 });
    expect(await scene.read('rotation', { beginMs: 0 }, 9_800_000)).toMatchObject({ counted: 499, isCut: true });
    expect(scene.asked).toHaveLength(1);
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
  });

  it('does not report executions of the backlog as late', async () => {
    const scene = createScene({
      answer: (asked) => toPage(runs(40), asked),
      scannedThroughMs: 9_500_000,
      aheadThroughMs: nowMs,
      backlog: [{ beginMs: 9_500_000, endMs: nowMs }],
    });
    expect(await scene.read('live', { beginMs: 9_500_000 }, 9_500_000)).toMatchObject({ counted: 3 });
    expect(scene.overlapMs()).toBe(120_000);
  });

  it('reads all of the many rows of one second', async () => {
    const flood = Array.from({ length: 2600 }, (_, index) =>
      someRun({ id: index + 1, startedAtMs: 1, endedAtMs: 5_000_100 }),
    );
    const scene = createScene({ answer: (asked) => toPage(flood, asked) });
    await scene.read('live');
    await scene.readPast(1);
    await scene.readPast(1);
    expect(scene.counted).toHaveLength(2600);
    expect(scene.state().backlog).toBeUndefined();
  });

  it('treats hidden windows as unread until the project shows a row', async () => {
    let isShown = false;
    const answer = (asked: Question): unknown => {
      const page = toPage(runs(30), asked);
      return isShown ? page : { ...page, items: [] };
    };
    const scene = createScene({ answer });
    await scene.read('live', { beginMs: nowMs });
    expect(scene.state().backlog).toEqual([{ beginMs: 0, endMs: nowMs - 1 }]);
    expect(await scene.readPast(5)).toMatchObject({ counted: 0, isUnshown: true });
    expect(scene.state().backlog).toEqual([{ beginMs: 0, endMs: nowMs - 1 }]);
    isShown = true;
    expect(await scene.readPast(5)).toMatchObject({ counted: 30, isUnshown: false });
    expect(scene.state().backlog).toBeUndefined();
  });

  it('requests further pages until a row is shown, but at most five', async () => {
    const dark = createScene({ answer: (asked) => ({ ...toPage(runs(4000), asked), items: [] }) });
    expect(await dark.read('live')).toMatchObject({ counted: 0, isUnshown: true });
    expect(dark.asked).toHaveLength(5);
    const partly = createScene({
      answer: (asked) => {
        const page = toPage(runs(4000), asked);
        return { ...page, items: page.items.filter(({ id }) => id <= 3400) };
      },
    });
    expect(await partly.read('live')).toMatchObject({ isUnshown: false });
    expect([partly.asked.length, partly.counted.length]).toEqual([2, 499]);
  });

  it('reports how many rows of a window are not shown', async () => {
    const scene = createScene({ answer: (asked) => ({ ...toPage(runs(3), asked), total: 7 }) });
    expect(await scene.read('live')).toMatchObject({ counted: 3, total: 7, shown: 3, hidden: 4, isUnshown: false });
    expect(scene.state().scannedThroughMs).toBe(nowMs);
  });

  it.each(['live', 'rotation'] as const)('keeps its progress if no row is shown: %s', async (purpose) => {
    const scene = createScene({ answer: () => ({ total: 7, items: [], oddRows: [] }) });
    expect(await scene.read(purpose)).toMatchObject({ counted: 0, hidden: 7, isUnshown: true });
    expect(scene.state().scannedThroughMs).toBe(0);
  });

  it('requests one page of hidden rows', async () => {
    const scene = createScene({ answer: () => ({ total: 70_000, items: [], oddRows: [] }), hold: 'hidden' });
    expect(await scene.read('probe')).toMatchObject({ hidden: 70_000, isUnshown: true });
    expect(scene.asked).toEqual(['project-executions pay 1…10000000']);
    expect(scene.state().hold).toBe('hidden');
  });

  it('resumes at the first visible row', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked), hold: 'hidden' });
    expect(await scene.read('probe')).toMatchObject({ counted: 3 });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
  });

  it.each([
    ['not_found', 'api.error.project.disabled', 'disabled'],
    ['not_found', 'api.error.project.missing', 'missing'],
    ['not_found', 'api.error.item.doesnotexist', 'missing'],
    ['forbidden', undefined, 'hidden'],
    // The name of the project does not fit into a path, so no request is sent.
    ['rejected', undefined, 'hidden'],
  ] as const)('puts a project on hold after %s %s, as %s', async (kind, errorCode, hold) => {
    const answer = (): never => {
      throw refusal(kind, errorCode);
    };
    const scene = createScene({ answer });
    expect(await scene.read('live')).toMatchObject({ counted: 0, isDenied: hold === 'hidden' });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), hold, heldSinceMs: nowMs });
    // A project is removed after thirty days of absence.
    const held = createScene({ answer, hold: hold === 'disabled' ? 'hidden' : 'disabled', heldSinceMs: 7 });
    await held.read('live');
    expect(held.state()).toMatchObject({ hold, heldSinceMs: hold === 'missing' ? nowMs : 7 });
  });

  it.each([
    ['not_found', 0, 'missing', nowMs],
    ['forbidden', 'refused: server', 'hidden', 7],
  ] as const)(
    'requests the jobs (%s) of an unlisted project if the server responds with an error',
    async (kind, result, hold, heldSinceMs) => {
      const scene = createScene({
        answer: ({ endpoint }) => {
          throw endpoint === 'project-jobs' ? refusal(kind) : refusal('server', undefined, 500);
        },
        hold: 'hidden',
        heldSinceMs: 7,
      });
      const toMessage = (error: unknown): unknown => (error instanceof Error ? error.message : error);
      expect(await scene.read('probe').then(({ counted }) => counted, toMessage)).toBe(result);
      expect(scene.state()).toMatchObject({ hold, heldSinceMs });
    },
  );

  it('puts no project on hold after an error of the server', async () => {
    const answer = (): never => {
      throw refusal('server', undefined, 500);
    };
    const scene = createScene({ answer });
    await expect(scene.read('live')).rejects.toThrow('refused: server');
    expect(scene.state().hold).toBeUndefined();
    expect(scene.asked).toEqual(['project-executions pay 1…10000000']);
  });

  it('continues at the catch-up limit, and records the earlier time as skipped', async () => {
    const scene = createScene({
      answer: (asked) => toPage(runs(10), asked),
      hold: 'disabled',
      catchUpLimitMs: 1_000_000,
    });
    await scene.read('probe');
    expect(scene.counted.map(({ id }) => id)).toEqual([10, 9]);
    expect(scene.state()).toEqual({
      ...toNewProject('pay', 9_000_000),
      scannedThroughMs: nowMs,
      prunedThroughMs: 0,
      skips: [{ beginMs: 0, endMs: 8_999_999, reason: 'disabled' }],
    });
  });

  it('reads everything again that a restored backup lacks', async () => {
    const scene = createScene({
      answer: (asked) => toPage(runs(10), asked),
      catchUpLimitMs: 1_000_000,
      gapUntilMs: nowMs,
    });
    await scene.read('live');
    expect(scene.counted).toHaveLength(10);
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
  });

  it('reads all future-dated executions', async () => {
    const count = 12_000;
    const ahead = runs(count).map((run) => ({ ...run, endedAtMs: nowMs + 1000 + 50 * run.id }));
    let fails = false;
    const scene = createScene({
      answer: (asked) => {
        if (fails) throw refusal('timeout');
        return toPage(ahead, asked);
      },
    });
    scene.noteReached(nowMs + 700_000);
    await scene.read('live');
    expect(scene.counted.length).toBeLessThan(count);
    fails = true;
    await expect(scene.read('live')).rejects.toThrow('refused: timeout');
    fails = false;
    await scene.read('live');
    expect(scene.counted).toHaveLength(count);
    const before = scene.asked.length;
    await scene.read('live');
    expect(scene.asked.length - before).toBe(1);
    scene.rewind();
    await scene.read('live');
    expect(scene.asked.length - before).toBeGreaterThan(20);
  });

  it('rewinds if the clock was set back', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked), scannedThroughMs: nowMs + 600_000 });
    await scene.read('live');
    expect(scene.state().scannedThroughMs).toBe(nowMs);
  });

  it('reports executions that only a second read found', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked) });
    await scene.readAgain({ beginMs: 0, endMs: nowMs });
    expect(scene.lateBefore).toEqual([Number.POSITIVE_INFINITY]);
    expect(scene.state().scannedThroughMs).toBe(0);
  });
});

/** Creates this many runs, spread over the window; the last run is at the end of the window. */
function runs(count: number): Finished[] {
  return Array.from({ length: count }, (_, index) => {
    const endedAtMs = Math.floor((nowMs * (index + 1)) / count);
    return someRun({ id: index + 1, startedAtMs: endedAtMs - 1, endedAtMs: Math.min(endedAtMs, nowMs - 1) });
  });
}

type Given = {
  readonly answer: (question: Question) => unknown;
  readonly catchUpLimitMs?: number;
  readonly gapUntilMs?: number;
  readonly heldSinceMs?: number;
} & Partial<Pick<ProjectState, 'hold' | 'scannedThroughMs' | 'aheadThroughMs' | 'backlog'>>;

function createScene({ answer, catchUpLimitMs = 1e12, gapUntilMs, ...fields }: Given) {
  const { api, asked } = createFakeApi(answer);
  const states = new Map<string, ProjectState>([['pay', { ...toNewProject('pay', 0), ...fields }]]);
  const counted: Finished[] = [];
  const lateBefore: (number | undefined)[] = [];
  const known = new Set<number>();
  // The test uses only these parts of a cache.
  const cache = {
    states,
    facts: () => ({ epoch: 1, epochStartedAtMs: 0, gapUntilMs }),
    update: async (make: () => Promise<{ readonly states?: readonly ProjectState[] } | undefined>) => {
      for (const state of (await make())?.states ?? []) states.set(state.project, state);
    },
  } as unknown as LedgerCache;
  const accept = async ({ project, rows, advance, lateBeforeMs }: CountRequest): Promise<readonly Finished[]> => {
    const fresh = (rows as readonly Finished[]).filter(({ id }) => !known.has(id));
    for (const { id } of fresh) known.add(id);
    counted.push(...fresh);
    lateBefore.push(lateBeforeMs);
    const state = states.get(project);
    if (state !== undefined && advance !== undefined) states.set(project, advance(state));
    return fresh;
  };
  const overlap = createOverlap(120_000);
  const odd: string[] = [];
  const oddRows: OddRows = {
    note: (project, rows) => odd.push(...rows.map(({ field, text }) => `${project} ${field} ${text}`)),
    complaints: () => [],
  };
  const start = () => createProjectReading({ cache, countExecutions: accept, overlap, catchUpLimitMs, oddRows });
  let reading = start();
  return {
    api,
    asked,
    counted,
    lateBefore,
    overlapMs: () => overlap.ms(nowMs),
    odd,
    noteReached: overlap.noteReached,
    rewind: () => reading.rewind(),
    readAgain: (window: Window) => reading.readAgain(api, 'pay', window, nowMs),
    restart: () => {
      reading = start();
    },
    state: () => states.get('pay') ?? toNewProject('gone', 0),
    read: (purpose: PlannedRead['purpose'], window: Partial<Window> = {}, sinceMs = 0) =>
      reading.read(api, { project: 'pay', window: { beginMs: 0, endMs: nowMs, ...window }, sinceMs, purpose }, nowMs),
    /** Reads the past, with at most this many pages of the backlog. */
    readPast: (pages: number) => {
      let left = pages;
      return reading.readPast(api, 'pay', nowMs, () => {
        left -= 1;
        return left >= 0;
      });
    },
  };
}
