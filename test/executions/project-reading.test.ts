import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../src/executions/accept.ts';
import type { Book } from '../../src/executions/book.ts';
import type { OddRows } from '../../src/executions/odd-rows.ts';
import { createOverlap } from '../../src/executions/overlap.ts';
import type { PlannedRead } from '../../src/executions/plan.ts';
import { createProjectReading } from '../../src/executions/project-reading.ts';
import { type ProjectState, toNewProject } from '../../src/executions/project-state.ts';
import type { Finished } from '../../src/executions/reconcile.ts';
import { createFakeApi, type Question, refusal, toPage } from './fake-api.ts';
import { someRun } from './some-execution.ts';

describe('executions/project-reading', () => {
  it('takes in what a window holds, and says that all of it was read', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked) });
    expect(await scene.read('live')).toMatchObject({ counted: 3, hidden: 0, isUnshown: false });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
    expect(scene.asked).toEqual(['project-executions pay 1…10000000']);
  });

  it('keeps what was read before a fault, and goes on from there', async () => {
    let left = 6;
    const answer = (asked: Question): unknown => {
      left -= 1;
      if (left < 0) throw refusal('timeout');
      return toPage(runs(1600), asked);
    };
    const scene = createScene({ answer });
    await expect(scene.read('live')).rejects.toThrow('refused: timeout');
    expect(scene.state().scannedThroughMs).toBe(7_499_999);
    expect(scene.counted).toHaveLength(1199);
    left = 100;
    await scene.read('live');
    expect(scene.state().scannedThroughMs).toBe(nowMs);
    expect(scene.counted).toHaveLength(1600);
  });

  it('shows how many rows of a window are not shown, and goes on', async () => {
    const scene = createScene({ answer: (asked) => ({ ...toPage(runs(3), asked), total: 7 }) });
    expect(await scene.read('live')).toMatchObject({ counted: 3, total: 7, shown: 3, hidden: 4, isUnshown: false });
    expect(scene.state().scannedThroughMs).toBe(nowMs);
  });

  it.each(['live', 'behind', 'rotation'] as const)(
    'holds where it is when not one row is shown: %s',
    async (purpose) => {
      const scene = createScene({ answer: () => ({ total: 7, items: [], oddRows: [] }) });
      expect(await scene.read(purpose)).toMatchObject({ counted: 0, hidden: 7, isUnshown: true });
      expect(scene.state().scannedThroughMs).toBe(0);
    },
  );

  it('asks for one page of what is out of sight, however much it has become', async () => {
    const scene = createScene({ answer: () => ({ total: 70_000, items: [], oddRows: [] }), hold: 'hidden' });
    expect(await scene.read('probe')).toMatchObject({ hidden: 70_000, isUnshown: true });
    expect(scene.asked).toEqual(['project-executions pay 1…10000000']);
    expect(scene.state().hold).toBe('hidden');
  });

  it('is back with the first row that is shown, and reads what it missed', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked), hold: 'hidden' });
    expect(await scene.read('probe')).toMatchObject({ counted: 3 });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
  });

  it.each([
    ['not_found', 'api.error.project.disabled', 'disabled'],
    ['not_found', 'api.error.project.missing', 'missing'],
    ['not_found', 'api.error.item.doesnotexist', 'missing'],
    ['forbidden', undefined, 'hidden'],
  ] as const)('takes %s %s for %s', async (kind, errorCode, hold) => {
    const answer = (): never => {
      throw refusal(kind, errorCode);
    };
    const scene = createScene({ answer });
    expect(await scene.read('live')).toMatchObject({ counted: 0, isDenied: hold === 'hidden' });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), hold, heldSinceMs: nowMs });
  });

  it('lets a fault of the server hold nothing', async () => {
    const answer = (): never => {
      throw refusal('server');
    };
    const scene = createScene({ answer });
    await expect(scene.read('live')).rejects.toThrow('refused: server');
    expect(scene.state().hold).toBeUndefined();
  });

  it('counts what is skipped after more than the catch-up limit, once, by what held it', async () => {
    let isBroken = true;
    const answer = (asked: Question): unknown => {
      if (isBroken && asked.query['begin'] === 9_000_000) throw refusal('server');
      return toPage(runs(10), asked);
    };
    const scene = createScene({ answer, hold: 'disabled', catchUpLimitMs: 1_000_000 });
    await expect(scene.read('probe')).rejects.toThrow('refused: server');
    expect(scene.skipped).toEqual([]);
    isBroken = false;
    await scene.read('probe');
    expect(scene.skipped).toEqual(['disabled 8']);
    expect(scene.counted.map(({ id }) => id)).toEqual([10, 9]);
    expect(scene.state()).toEqual({ ...toNewProject('pay', 9_000_000), scannedThroughMs: nowMs });
  });

  it('reads on past rows that are shown and cannot be read', async () => {
    const oddRows = [{ field: 'id', text: '{"status":"failed"}' }];
    const scene = createScene({ answer: () => ({ total: 1, items: [], oddRows }), hold: 'hidden' });
    expect(await scene.read('probe')).toMatchObject({ counted: 0, hidden: 0, isUnshown: false });
    expect(scene.state()).toEqual({ ...toNewProject('pay', 0), scannedThroughMs: nowMs });
    expect(scene.odd).toEqual(['pay id {"status":"failed"}']);
  });

  it('rewinds where the clock was set back', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked), scannedThroughMs: nowMs + 600_000 });
    await scene.read('live');
    expect(scene.state().scannedThroughMs).toBe(nowMs);
  });

  it('says that a second look found what should have been found before', async () => {
    const scene = createScene({ answer: (asked) => toPage(runs(3), asked) });
    await scene.reading.readAgain(scene.api, 'pay', { beginMs: 0, endMs: nowMs }, nowMs);
    expect(scene.lateBefore).toEqual([Number.POSITIVE_INFINITY]);
    expect(scene.state().scannedThroughMs).toBe(0);
  });
});

const nowMs = 10_000_000;

/** So many, spread over the window, the last of them at its end. */
function runs(count: number): Finished[] {
  return Array.from({ length: count }, (_, index) => {
    const endedAtMs = Math.floor((nowMs * (index + 1)) / count);
    return someRun({ id: index + 1, startedAtMs: endedAtMs - 1, endedAtMs: Math.min(endedAtMs, nowMs - 1) });
  });
}

type Given = {
  readonly answer: (question: Question) => unknown;
  readonly catchUpLimitMs?: number;
} & Partial<Pick<ProjectState, 'hold' | 'scannedThroughMs'>>;

function createScene({ answer, catchUpLimitMs = 1e12, ...fields }: Given) {
  const { api, asked } = createFakeApi(answer);
  const states = new Map<string, ProjectState>([['pay', { ...toNewProject('pay', 0), ...fields }]]);
  const counted: Finished[] = [];
  const lateBefore: (number | undefined)[] = [];
  const skipped: string[] = [];
  const known = new Set<number>();
  // Only these two parts of a book are asked.
  const book = {
    states,
    update: async (make: () => Promise<{ readonly states?: readonly ProjectState[] } | undefined>) => {
      for (const state of (await make())?.states ?? []) states.set(state.project, state);
    },
  } as unknown as Book;
  const accept = async ({ project, rows, advance, lateBeforeMs }: Acceptance): Promise<readonly Finished[]> => {
    const fresh = (rows as readonly Finished[]).filter(({ id }) => !known.has(id));
    for (const { id } of fresh) known.add(id);
    counted.push(...fresh);
    lateBefore.push(lateBeforeMs);
    const state = states.get(project);
    if (state !== undefined && advance !== undefined) states.set(project, advance(state));
    return fresh;
  };
  const observe = { skipped: (reason: string, executions: number) => skipped.push(`${reason} ${executions}`) };
  const overlap = createOverlap(120_000);
  const odd: string[] = [];
  const oddRows: OddRows = {
    note: (project, rows) => odd.push(...rows.map(({ field, text }) => `${project} ${field} ${text}`)),
    complaints: () => [],
  };
  const reading = createProjectReading({ book, accept, overlap, catchUpLimitMs, observe, oddRows });
  return {
    api,
    asked,
    counted,
    lateBefore,
    skipped,
    odd,
    reading,
    state: () => states.get('pay') ?? toNewProject('gone', 0),
    read: (purpose: PlannedRead['purpose']) =>
      reading.read(api, { project: 'pay', window: { beginMs: 0, endMs: nowMs }, purpose }, nowMs),
  };
}
