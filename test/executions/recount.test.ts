import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/api/paging.ts';
import { openLedgerCache } from '../../src/executions/ledger/ledger-cache.ts';
import { type ProjectState, toNewProject } from '../../src/executions/ledger/project-state.ts';
import { createActivities } from '../../src/executions/reading/activities.ts';
import { createOverlap } from '../../src/executions/reading/overlap.ts';
import { createRecount } from '../../src/executions/recount/recount.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import { dayMs, hourMs } from '../support/durations.ts';
import { createFakeApi, toPage } from './fake-api.ts';
import { someRun } from './some-execution.ts';

const nowMs = 100 * dayMs;

describe('executions/recount', () => {
  it('reads the hours with different totals again', async () => {
    const scene = await createScene({ ended: [2.5, 7.5, 7.6], known: [2.5, 7.5] });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toEqual(['pay -8 h … -7 h']);
    expect(scene.asked).toHaveLength(12);
    await scene.look('pay', { activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(1);
  });

  it('compares a project once an hour', async () => {
    const scene = await createScene({ ended: [2.5], known: [2.5] });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 2 * hourMs });
    expect(scene.asked).toEqual([`project-executions pay ${nowMs - 24 * hourMs}…${nowMs - hourMs - 1} total`]);
    scene.pass(hourMs - 1);
    await scene.look('pay', {});
    expect(scene.asked).toHaveLength(1);
    scene.pass(1);
    await scene.look('pay', {});
    expect(scene.asked).toHaveLength(2);
  });

  it('does not compare executions of the last minutes', async () => {
    const scene = await createScene({ ended: [0.5], known: [] });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toEqual([]);
    scene.pass(hourMs);
    await scene.look('pay', { activeUntilMs: nowMs + 2 * hourMs });
    expect(scene.readAgain).toEqual(['pay -1 h … 0 h']);
  });

  it('does not compare the last day of an idle project', async () => {
    const scene = await createScene({ ended: [100.5], known: [100.5] });
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs });
    expect(scene.asked).toHaveLength(1);
    expect(scene.nextDayMs('pay')).toBe(nowMs);
    await scene.look('pay', { isDayLong: true });
    expect(scene.asked).toHaveLength(2);
  });

  it('compares nothing before the start of counting', async () => {
    const scene = await createScene({ ended: [], known: [], countedFromMs: nowMs - hourMs });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.asked).toEqual([]);
  });

  it('compares a week once a day', async () => {
    const scene = await createScene({ ended: [100.5], known: [] });
    await scene.setComparedWeek(nowMs - dayMs + 1);
    await scene.look('pay', { nextDayMs: nowMs });
    expect(scene.asked).toEqual([]);
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', {});
    expect(scene.readAgain).toEqual(['pay -101 h … -100 h']);
    const asked = scene.asked.length;
    await scene.restart();
    scene.pass(dayMs - 1);
    await scene.look('pay', {});
    expect(scene.asked).toHaveLength(asked);
    scene.pass(1);
    await scene.look('pay', {});
    expect(scene.asked.length).toBeGreaterThan(asked);
  });

  it('compares a week with the server within a day, despite hourly restarts', async () => {
    const scene = await createScene({ ended: [], known: [], countedFromMs: nowMs });
    await scene.setComparedWeek(undefined);
    for (let hour = 0; hour < 24; hour += 1) {
      await scene.restart();
      scene.pass(hourMs);
      await scene.look('pay', {});
    }
    expect(scene.comparedWeekAtMs()).toBeGreaterThan(nowMs);
  });

  it('compares a week immediately after the clock was set back', async () => {
    const scene = await createScene({ ended: [], known: [] });
    await scene.setComparedWeek(nowMs + 10 * dayMs);
    await scene.look('pay', {});
    expect(scene.comparedWeekAtMs()).toBe(nowMs);
  });

  it('reads hidden rows again within a day', async () => {
    const scene = await createScene({ ended: [5.5, 6.5, 9.5], known: [], isHidden: true });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(3);
    scene.unhide();
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', {});
    expect(scene.readAgain.slice(3)).toEqual(['pay -7 h … -5 h', 'pay -10 h … -9 h']);
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', {});
    expect(scene.readAgain).toHaveLength(5);
  });

  it('continues in the next round if time is short', async () => {
    const scene = await createScene({ ended: [2.5, 7.5], known: [] });
    scene.note('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    let rounds = 0;
    for (; scene.readAgain.length < 2; rounds += 1) await scene.look('pay', {}, () => false);
    expect(rounds).toBeGreaterThan(5);
    expect(new Set(scene.asked).size).toBe(scene.asked.length - 2);
    await scene.setComparedWeek(nowMs - dayMs);
    for (let count = 0; count < 5; count += 1) await scene.look('pay', {}, () => false);
    expect(scene.comparedWeekAtMs()).toBe(nowMs);
  });

  it('reads no hour again if the history was deleted', async () => {
    const ended = Array.from({ length: 100 }, (_, index) => index + 24.5);
    const scene = await createScene({ ended: [130.5], known: [130.5, ...ended] });
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', {});
    expect(scene.readAgain).toEqual([]);
    expect(scene.asked.length).toBeLessThan(20);
    const asked = scene.asked.length;
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', {});
    expect(scene.asked).toHaveLength(asked + 1);
  });

  it('widens the overlap after it finds missed executions', async () => {
    const scene = await createScene({ ended: [2.5, 7.5], known: [] });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(2);
    expect(scene.overlapMs()).toBe(240_000);
  });

  it('ignores old executions for the overlap', async () => {
    const scene = await createScene({ ended: [100.5], known: [] });
    await scene.setComparedWeek(nowMs - dayMs);
    await scene.look('pay', {});
    expect(scene.readAgain).toHaveLength(1);
    expect(scene.overlapMs()).toBe(120_000);
  });

  it('compares a thousand busy projects within the hour, but not after an absence', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `p${index}`);
    const scene = await createScene({ ended: [], known: [], projects: many });
    const round = async (): Promise<void> => {
      for (const project of many) scene.note(project, { activeUntilMs: nowMs + dayMs });
      await scene.look('p0', {});
      scene.pass(15_000);
    };
    for (const project of many) scene.note(project, { nextDayMs: nowMs });
    for (let count = 0; count < 80; count += 1) await round();
    expect(scene.asked).toHaveLength(1000);
    expect(scene.complaints()).toEqual([]);

    const poor = await createScene({ ended: [], known: [], projects: many, requestsPerSecond: 0.1 });
    for (const project of many) poor.note(project, { nextDayMs: nowMs, activeUntilMs: nowMs + dayMs });
    for (let count = 0; count < 18; count += 1) {
      await poor.look('p0', {});
      poor.pass(420_000);
    }
    expect(poor.complaints()).toEqual([]);
    await poor.look('p0', {});
    expect(poor.complaints()).toEqual(['recounts are 2 h late: the request budget is too small']);
    poor.pass(hourMs);
    await poor.look('p0', {});
    expect(poor.complaints()).toEqual([]);
  });

  it('reports known hidden rows only once', async () => {
    const scene = await createScene({ ended: [5.5], known: [], isHidden: true });
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(1);
    await scene.look('pay', { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
    expect(scene.readAgain).toHaveLength(1);
  });

  it('reads every hour with rows again, a day later', async () => {
    const scene = await createScene({ ended: [25.5, 30.5], known: [25.5, 30.5] });
    for (let count = 0; count < 3; count += 1) await scene.look('pay', {});
    expect(scene.readAgain).toEqual(['pay -31 h … -30 h', 'pay -26 h … -25 h']);
  });

  it('compares the projects in turn if time is short', async () => {
    const scene = await createScene({ ended: [2.5], known: [], isHidden: true });
    for (const found of [3, 5]) {
      for (const project of usualProjects) scene.note(project, { nextDayMs: nowMs, activeUntilMs: nowMs + 1 });
      await scene.look('pay', {});
      expect(scene.readAgain).toHaveLength(found);
    }
    expect(scene.readAgain.map((line) => line.split(' ')[0])).toEqual(['pay', 'stock', 'a', 'b', 'c']);
  });
});

const usualProjects = ['pay', 'stock', 'a', 'b', 'c'];

type Given = {
  readonly ended: readonly number[];
  readonly known: readonly number[];
  readonly isHidden?: boolean;
  readonly projects?: readonly string[];
  readonly countedFromMs?: number;
  readonly requestsPerSecond?: number;
};

/** Creates a recount from the ages (hours) of executions on the server and in the ledger. */
async function createScene({ ended, known, projects = usualProjects, countedFromMs = 0, ...given }: Given) {
  const { ledger } = openSqliteState({ memory: true });
  let isHidden = given.isHidden === true;
  let atMs = nowMs;
  let activities = createActivities();
  let cache = await openLedgerCache(ledger, 'upstream');
  const rows = ended.map((hours) => someRun({ id: hours * 10, startedAtMs: 0, endedAtMs: nowMs - hours * hourMs }));
  const { api, asked } = createFakeApi((question) => (projects === usualProjects ? toPage(rows, question) : nothing));
  const note = (project: string, change: Parameters<typeof activities.note>[1]): void =>
    activities.note(project, change, atMs);
  const toEntry = (hours: number) => ({
    project: 'pay',
    id: hours * 10,
    startedAtMs: 0,
    endedAtMs: nowMs - hours * hourMs,
  });
  for (const project of projects) note(project, { nextDayMs: nowMs + 1 });
  await cache.update(async () => ({
    states: projects.map((project) => ({
      ...toNewProject(project, countedFromMs),
      scannedThroughMs: nowMs,
      comparedWeekAtMs: nowMs,
    })),
    entries: known.map(toEntry),
  }));
  const readAgain: string[] = [];
  const reading = {
    readAgain: async (_api: unknown, project: string, { beginMs, endMs }: Window) => {
      readAgain.push(`${project} ${(beginMs - nowMs) / hourMs} h … ${(endMs + 1 - nowMs) / hourMs} h`);
      if (isHidden) return [];
      const found = rows.filter(({ endedAtMs }) => endedAtMs >= beginMs && endedAtMs <= endMs);
      const before = new Set(
        (
          await ledger.find(
            'upstream',
            found.map(({ id }) => id),
          )
        ).map(({ id }) => id),
      );
      await cache.update(async () => ({ entries: found.map((run) => ({ ...run, project })) }));
      return found.filter(({ id }) => !before.has(id));
    },
  };
  const overlap = createOverlap(120_000);
  const { requestsPerSecond = 10 } = given;
  const start = () =>
    createRecount({
      server: 'upstream',
      cache,
      ledger,
      activities,
      reading,
      overlap,
      everyMs: 15_000,
      requestsPerSecond,
    });
  let recount = start();
  const change = async (fields: Partial<ProjectState>): Promise<void> => {
    const state = cache.states.get('pay');
    if (state !== undefined) await cache.update(async () => ({ states: [{ ...state, ...fields }] }));
  };
  return {
    asked,
    readAgain,
    note,
    pass: (ms: number) => {
      atMs += ms;
    },
    unhide: () => {
      isHidden = false;
    },
    restart: async () => {
      cache = await openLedgerCache(ledger, 'upstream');
      activities = createActivities();
      recount = start();
    },
    nextDayMs: (project: string) => activities.all.get(project)?.nextDayMs,
    overlapMs: () => overlap.ms(atMs),
    complaints: () => recount.complaints(),
    setComparedWeek: (comparedWeekAtMs: number | undefined) => change({ comparedWeekAtMs }),
    comparedWeekAtMs: () => cache.states.get('pay')?.comparedWeekAtMs,
    /** Records that all projects have been read up to now. */
    look: async (project: string, changed: Parameters<typeof activities.note>[1], mayGoOn = (): boolean => true) => {
      note(project, changed);
      await cache.update(async () => ({
        states: [...cache.states.values()].map((state) => ({ ...state, scannedThroughMs: atMs })),
      }));
      await recount.look(() => api, atMs, mayGoOn);
    },
  };
}

const nothing = { total: 0, items: [], oddRows: [] };
