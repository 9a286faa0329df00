import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, type SimulatorRequest, startSimulator } from '../../../simulator/simulator.ts';
import type { Policy } from '../../../simulator/world/access.ts';
import { createDice, type Dice } from '../../world/dice.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { createEstate, type Estate } from './estate.ts';
import { createPublished, type Published } from './published.ts';
import { createSightings, type Sightings } from './sightings.ts';
import type { TracingOrder } from './tracing.ts';
import { createTraffic } from './traffic.ts';
import type { Word } from './watcher.ts';

export type WorldOptions = {
  readonly seed: number;
  readonly backfillMs: number;
  readonly holdNewSeriesMs: number;
  /** The average number of rounds between two kills. */
  readonly roundsPerKill: number;
  /** Returns how traces are created and sent, for the URL of the service. */
  readonly tracing: (url: string) => Promise<TracingOrder>;
  readonly sightings?: Sightings;
  readonly hear?: (word: Word) => void;
};

export type World = {
  readonly stateDir: string;
  readonly simulator: Simulator;
  readonly estate: Estate;
  readonly random: Dice;
  readonly sightings: Sightings;
  readonly published: Published;
  readonly daemon: Daemon;
  /** True time; the clocks of the service may differ. */
  readonly nowMs: () => number;
  readonly roundTimes: readonly number[];
  /** Errors of rounds without trouble. */
  readonly complaints: readonly string[];
  readonly contract: { readonly countedFromMs: number; readonly gone: Set<string>; readonly newDatabasesAt: number[] };
  /** Advances the time, ends work, and plays a round, with or without a kill. */
  readonly round: (how?: RoundOptions) => Promise<void>;
  /** Called with each request before its response. */
  readonly onRequest: (listener: (request: SimulatorRequest) => void) => void;
  readonly permit: (policy: Partial<Policy>) => void;
  readonly stop: () => Promise<void>;
};

type RoundOptions = {
  readonly advanceMs?: number;
  /** True for a round without kills and new work. */
  readonly isCalm?: boolean;
  readonly mayFail?: boolean;
};

export const birthMs = Date.UTC(2026, 0, 15, 12);

/** A simulated service with work, and a daemon that watches it. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { seed, backfillMs, roundsPerKill, holdNewSeriesMs, tracing, hear } = options;
  const random = createDice(seed);
  const { sightings = createSightings() } = options;
  const published = createPublished();
  let listen: (request: SimulatorRequest) => void = () => {};
  const simulator = await startSimulator({
    scenario: 'empty',
    clock: 'free',
    apiVersion: 47,
    members: 2,
    seed,
    retained: Number.POSITIVE_INFINITY,
    threadPoolSize: 100,
    onRequest: (request) => {
      daemon.noteRequest();
      listen(request);
    },
  });
  const estate = createEstate(simulator.control);
  const permit = (policy: Partial<Policy>): void =>
    simulator.control.addToken({ token: simulator.token, policy: { hiddenJobs: [estate.hiddenJob], ...policy } });
  permit({});
  const dir = mkdtempSync(join(tmpdir(), 'conservation-'));
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, `${simulator.token}\n`);
  const rules = { backfillMs, holdNewSeriesMs };
  const daemon: Daemon = startDaemon({
    order: {
      do: 'open',
      url: simulator.url,
      tokenFile,
      dir: join(dir, 'state'),
      rules,
      tracing: await tracing(simulator.url),
    },
    random,
    sightings,
    hear: (word) => {
      if (word.says === 'published') published.take(word.text);
      hear?.(word);
    },
  });
  let nowMs = birthMs;
  const roundTimes: number[] = [];
  const complaints: string[] = [];
  const passTraffic = createTraffic({ simulator, estate, random });

  return {
    stateDir: join(dir, 'state'),
    simulator,
    estate,
    random,
    sightings,
    published,
    daemon,
    nowMs: () => nowMs,
    roundTimes,
    complaints,
    contract: { countedFromMs: birthMs - backfillMs, gone: new Set(), newDatabasesAt: [] },
    permit,
    onRequest: (listener) => {
      listen = listener;
    },
    round: async ({ advanceMs = 1000 * random.between(5, 20), isCalm = false, mayFail = false } = {}) => {
      const fromMs = nowMs;
      nowMs += advanceMs;
      simulator.advance(advanceMs);
      if (!isCalm && advanceMs > 0) passTraffic(fromMs, nowMs);
      roundTimes.push(nowMs);
      sightings.see('rounds');
      const isLast = !isCalm && random.between(1, roundsPerKill) === 1;
      const fault = await daemon.round(nowMs, isLast);
      if (fault !== undefined && !mayFail) complaints.push(`${new Date(nowMs).toISOString()} ${fault}`);
    },
    stop: async () => {
      await daemon.stop();
      await simulator.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
