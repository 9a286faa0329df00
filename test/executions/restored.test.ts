import { describe, expect, it } from 'vitest';
import { fc } from '../support/property.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { play } from './play.ts';

describe('executions after a restored copy', () => {
  it('never publishes a lower counter after a restore', async () => {
    const action = fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constant('finish' as const), fc.nat(2), fc.nat(3)) },
      { weight: 6, arbitrary: fc.tuple(fc.constant('rounds' as const), fc.integer({ min: 1, max: 3 }), fc.nat(1)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('switch' as const), fc.nat(2), fc.nat(1)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('create' as const), fc.constant(2), fc.nat(1)) },
    );
    const some = fc.array(action, { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(some, some, some, async (before, lost, after) => {
        const story = await begin();
        await story.play(before);
        const copy = story.ledger.copy();
        await story.play(lost);
        story.ledger.restore(copy);
        story.restart({}, true);
        await story.play(after);
        const faults = await story.end();
        expect(faults).toEqual([]);
      }),
      { numRuns: 25 },
    );
  }, 120_000);

  it('immediately publishes the executions that the restored copy lacks, although new series are held', async () => {
    const ledger = createMemoryLedger();
    const { control, finish, counted, rounds, restart } = await play({
      keepBy: () => ledger,
      settings: { holdNewSeriesMs: 60_000 },
    });
    const job = control.createJob('pay', { name: 'copy', group: '' });
    await rounds(2);
    finish('pay');
    await rounds(2);
    const copy = ledger.copy();
    finish('pay', { jobId: job });
    await rounds(10);
    const before = counted();
    expect(before).toEqual(['pay settle succeeded 1', 'pay copy succeeded 1']);
    ledger.restore(copy);
    restart({}, true);
    await rounds(2);
    expect(counted()).toEqual(before);
  });

  it('publishes nothing of a disabled project until the project was read again', async () => {
    const ledger = createMemoryLedger();
    const { control, finish, counted, rounds, restart } = await play({ keepBy: () => ledger });
    await rounds(2);
    finish('pay');
    await rounds(8);
    const copy = ledger.copy();
    finish('pay');
    await rounds(8);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    control.changeProject('pay', { disabled: true });
    await rounds(2);
    ledger.restore(copy);
    restart({}, true);
    await rounds(8);
    expect(counted()).toEqual([]);
    control.changeProject('pay', { disabled: false });
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 2']);
  });

  it('counts an old execution again after a restore', async () => {
    const ledger = createMemoryLedger();
    const { finish, counted, rounds, restart } = await play({ keepBy: () => ledger });
    await rounds(2, 3_600_000);
    finish('pay');
    await rounds(10);
    const copy = ledger.copy();
    finish('pay', { agoMs: 3_600_000 });
    await rounds(10, 600_000);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    ledger.restore(copy);
    restart({}, true);
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 2']);
  });

  it('counts runs again after a restore, even one that a clock step dated before the start', async () => {
    const ledger = createMemoryLedger();
    const { control, finish, counted, rounds, restart } = await play({ keepBy: () => ledger });
    finish('pay', { agoMs: 3_600_000 });
    await rounds(2);
    finish('pay');
    await rounds(10);
    const copy = ledger.copy();
    control.setClockSkew(-600_000);
    await rounds(2);
    finish('pay', { agoMs: 600_000 });
    await rounds(2);
    control.setClockSkew(0);
    await rounds(10);
    expect(counted()).toEqual(['pay settle succeeded 2']);
    ledger.restore(copy);
    restart({}, true);
    await rounds(2);
    expect(counted()).toEqual(['pay settle succeeded 2']);
  });
});

type Action = readonly [kind: 'finish' | 'rounds' | 'switch' | 'create', which: number, how: number];

/** Creates three projects with two jobs each; every round is scraped. */
async function begin() {
  const ledger = createMemoryLedger();
  const scene = await play({ keepBy: () => ledger, settings: { holdNewSeriesMs: 60_000 } });
  const { control, round, shown, nowMs } = scene;
  const projects = ['pay', 'shop'];
  control.createProject('shop');
  const disabled = new Set<string>();
  const jobs = new Map<string, string[]>();
  const seen = new Map<string, number>();
  const faults: string[] = [];
  let finished = 0;
  const nameOf = (which: number): string => projects[which % projects.length] ?? 'pay';

  function finish(project: string, how: number): void {
    const names =
      jobs.get(project) ?? [0, 1].map((index) => control.createJob(project, { name: `j${index}`, group: '' }));
    jobs.set(project, names);
    finished += 1;
    const status = how > 1 ? 'failed' : 'succeeded';
    control.addFinished(project, {
      jobId: names[how % 2] ?? '',
      status,
      startedAtMs: nowMs() - 2000,
      endedAtMs: nowMs(),
    });
  }

  async function scrape(): Promise<void> {
    await round();
    for (const family of ['automation_executions_total', 'automation_execution_duration_seconds'])
      for (const line of shown(family)) {
        const at = line.lastIndexOf(' ');
        const value = Number(line.slice(at + 1));
        const series = line.slice(0, at);
        const before = seen.get(series) ?? 0;
        if (value < before) faults.push(`${series} fell from ${before} to ${value}`);
        seen.set(series, value);
      }
  }

  async function act([kind, which, how]: Action): Promise<void> {
    const project = nameOf(which);
    if (kind === 'finish') finish(project, how);
    if (kind === 'rounds') for (let left = which; left > 0; left -= 1) await scrape();
    if (kind === 'create' && projects.length < 3) {
      control.createProject('new');
      projects.push('new');
    }
    if (kind === 'switch') {
      if (!disabled.delete(project)) disabled.add(project);
      control.changeProject(project, { disabled: disabled.has(project) });
    }
  }

  await scrape();
  return {
    ...scene,
    ledger,
    play: async (actions: readonly Action[]) => {
      for (const each of actions) await act(each);
    },
    /** Makes everything readable, and reads it. */
    end: async (): Promise<readonly string[]> => {
      for (const project of disabled) control.changeProject(project, { disabled: false });
      for (let left = 14; left > 0; left -= 1) await scrape();
      const values = shown('automation_executions_total').map((line) => Number(line.split(' ').at(-1)));
      const counted = values.reduce((sum, value) => sum + value, 0);
      return counted === finished ? faults : [...faults, `counted ${counted} of ${finished}`];
    },
  };
}
