import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/api/paging.ts';
import { createActivities } from '../../src/executions/activities.ts';
import { openBook } from '../../src/executions/book.ts';
import { createOverlap } from '../../src/executions/overlap.ts';
import { toNewProject } from '../../src/executions/project-state.ts';
import { createSecondLook } from '../../src/executions/second-look.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { createFakeApi, toPage } from './fake-api.ts';
import { someRun } from './some-execution.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = 100 * dayMs;

describe('executions/second-look', () => {
  it('compares totals hour by hour, and reads again where they differ', async () => {
    const scene = await createScene({ ended: [2.5, 7.5, 7.6], known: [2.5, 7.5] });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toEqual(['pay -8 h … -7 h']);
    expect(scene.asked).toHaveLength(12);
    await scene.look('pay', { activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(1);
  });

  it('looks at a week once a day, at idle projects too', async () => {
    const scene = await createScene({ ended: [100.5], known: [] });
    await scene.look('pay', { nextDayMs: nowMs, nextWeekMs: nowMs + 1 });
    expect(scene.readAgain).toEqual([]);
    await scene.look('pay', { nextWeekMs: nowMs });
    expect(scene.readAgain).toEqual(['pay -101 h … -100 h']);
  });

  it('takes rows that are counted and never shown for no news', async () => {
    const scene = await createScene({ ended: [5.5], known: [], isHidden: true });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(1);
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(1);
  });

  it('reads every hour that had rows once more, a day later', async () => {
    const scene = await createScene({ ended: [25.5, 30.5], known: [25.5, 30.5] });
    for (let count = 0; count < 3; count += 1) await scene.look('pay', {});
    expect(scene.readAgain).toEqual(['pay -31 h … -30 h', 'pay -26 h … -25 h']);
  });

  it('gives all their turn where there is more to do than a round has room for', async () => {
    const scene = await createScene({ ended: [2.5], known: [], isHidden: true });
    for (let count = 0; count < 2; count += 1) {
      for (const project of projects) scene.note(project, { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
      await scene.look('pay', {});
    }
    expect(scene.readAgain.map((line) => line.split(' ')[0])).toEqual(['pay', 'stock', 'a', 'b', 'c']);
  });
});

const projects = ['pay', 'stock', 'a', 'b', 'c'];

/** Ends by how many hours ago they were: what the server has, and what is known of it. */
async function createScene(given: { ended: readonly number[]; known: readonly number[]; isHidden?: boolean }) {
  const { ledger } = openSqliteState({ memory: true });
  const book = await openBook(ledger, 'upstream');
  const activities = createActivities();
  const rows = given.ended.map((hours, id) => someRun({ id, startedAtMs: 0, endedAtMs: nowMs - hours * hourMs }));
  const { api, asked } = createFakeApi((question) => toPage(rows, question));
  const note = (project: string, change: Parameters<typeof activities.note>[1]): void =>
    activities.note(project, change, nowMs);
  for (const project of projects) note(project, { nextDayMs: nowMs + 1, nextWeekMs: nowMs + 1 });
  const toEntry = (hours: number, id: number) => ({
    project: 'pay',
    id,
    startedAtMs: 0,
    endedAtMs: nowMs - hours * hourMs,
  });
  await book.update(async () => ({
    states: projects.map((project) => ({ ...toNewProject(project, 0), scannedThroughMs: nowMs })),
    entries: given.known.map(toEntry),
  }));
  const readAgain: string[] = [];
  const reading = {
    readAgain: async (_api: unknown, project: string, { beginMs, endMs }: Window) => {
      readAgain.push(`${project} ${(beginMs - nowMs) / hourMs} h … ${(endMs + 1 - nowMs) / hourMs} h`);
      const found = rows.filter(({ endedAtMs }) => endedAtMs >= beginMs && endedAtMs <= endMs);
      if (given.isHidden === true) return;
      await book.update(async () => ({ entries: found.map((run) => ({ ...run, project })) }));
    },
  };
  const overlap = createOverlap(120_000);
  const secondLook = createSecondLook({ server: 'upstream', book, ledger, activities, reading, overlap });
  return {
    asked,
    readAgain,
    note,
    look: async (project: string, change: Parameters<typeof activities.note>[1]) => {
      note(project, change);
      await secondLook.look(() => api, nowMs);
    },
  };
}
