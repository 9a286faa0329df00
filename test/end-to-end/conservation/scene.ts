import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts';
import type { ExecutionsOptions } from '../../../src/executions/options.ts';
import type { Ledger } from '../../../src/state/ledger.ts';
import { openSqliteState } from '../../../src/state/sqlite.ts';
import { createWatch, type WatchOptions } from './composition.ts';
import { compare, expect } from './expectation.ts';
import { createPublished } from './published.ts';
import { birthMs } from './world.ts';

/** The parts of a faulty daemon. */
export type WrongPart = {
  readonly substitutes?: ExecutionsOptions['substitutes'];
  readonly wrap?: WatchOptions['wrap'];
  readonly keep?: (ledger: Ledger, nowMs: () => number) => Ledger;
};

export type Scene = {
  readonly control: Simulator['control'];
  /** A visible job of the project `pay`; the other job is hidden. */
  readonly job: string;
  readonly hiddenJob: string;
  readonly nowMs: () => number;
  readonly rounds: (count: number) => Promise<void>;
  readonly renewDatabase: () => void;
};

/** Plays a problem with a daemon that has these parts; returns the counters that are wrong before any comparison of the past. */
export async function playScene(trouble: (scene: Scene) => Promise<void>, wrong: WrongPart = {}): Promise<string[]> {
  const simulator = await startSimulator({ scenario: 'empty', clock: 'free', apiVersion: 47, retained: 1e9 });
  const { control } = simulator;
  const state = openSqliteState({ memory: true });
  const dir = mkdtempSync(join(tmpdir(), 'conservation-scene-'));
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, simulator.token);
  control.createProject('pay');
  const job = control.createJob('pay', { name: 'settle' });
  const hiddenJob = control.createJob('pay', { name: 'out of sight' });
  control.addToken({ token: simulator.token, policy: { hiddenJobs: [hiddenJob] } });
  const published = createPublished();
  const newDatabasesAt: number[] = [];
  let nowMs = birthMs;
  const { keep = (ledger) => ledger, ...parts } = wrong;
  const watch = createWatch({
    url: simulator.url,
    tokenFile,
    ledger: keep(state.ledger, () => nowMs),
    rules: { backfillMs: 0, holdNewSeriesMs: 0 },
    publish: published.take,
    ...parts,
  });

  async function rounds(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      nowMs += 15_000;
      simulator.advance(15_000);
      const fault = await watch.round(nowMs);
      if (fault !== undefined) throw new Error(fault);
    }
  }

  try {
    const first = await watch.round(nowMs);
    if (first !== undefined) throw new Error(first);
    await rounds(10);
    const renewDatabase = (): void => {
      newDatabasesAt.push(simulator.truth().executions.length);
      control.restart({ newDatabase: true });
    };
    await trouble({ control, job, hiddenJob, nowMs: () => nowMs, rounds, renewDatabase });
    // A new series shows its value one round after it appears.
    await rounds(2);
    const contract = { countedFromMs: birthMs, hiddenJobs: [hiddenJob], gone: new Set<string>(), newDatabasesAt };
    return compare(expect(simulator.truth().executions, contract).series, published.latest());
  } finally {
    await watch.close();
    await state.close();
    await simulator.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
