import { createHash } from 'node:crypto';
import { minuteMs } from '../../support/durations.ts';
import { createCollector } from '../collector.ts';
import { configure, toYaml } from '../configured.ts';
import { createDice } from '../dice.ts';
import { judgeEnd } from '../final.ts';
import { createNetwork, fairWeather } from '../network.ts';
import { type Plan, planWorld } from '../plan.ts';
import {
  birthMs,
  createEstateService,
  createTruth,
  finishLast,
  type Operator,
  type Scene,
  startTraffic,
} from '../scene.ts';
import { readShown } from '../shown.ts';
import { createVirtualTime } from '../virtual-time.ts';
import { type Fault, valueOf } from '../watch-scrapes.ts';
import { createSlots, daemons, drawCards, playCard, type ReplicaCard, unitName } from './cards.ts';
import { createEngine } from './engine.ts';
import { startReplicaProcess } from './process.ts';
import { createWatch, judgeLoad } from './watch.ts';

export type ReplicaReport = {
  readonly seed: number;
  readonly hash: string;
  readonly cards: readonly ReplicaCard[];
  readonly faults: readonly Fault[];
  readonly executions: number;
  readonly traces: number;
  readonly requests: number;
  /** The spans during which no daemon showed the server. */
  readonly gapsMs: readonly number[];
};

type ReplicaPlayOptions = {
  readonly cards?: readonly ReplicaCard[];
  readonly onEvent?: (atMs: number, text: string) => void;
};

/** Plays a world with three daemons on one database; the cards are the problems. */
export async function playReplicas(seed: number, options: ReplicaPlayOptions = {}): Promise<ReplicaReport> {
  const plan: Plan = {
    ...planWorld(seed, []),
    ...steady,
    projects: 1 + (seed % 3),
    traces: seed % 4 === 0 ? 'off' : 'root',
  };
  const cards = options.cards ?? drawCards(seed, plan.lengthMs);
  const hash = createHash('sha256');
  const faults: Fault[] = [];
  const time = createVirtualTime(birthMs);
  const dice = createDice(`replicas ${seed}`);
  const atMs = (): number => time.nowMs() - birthMs;
  const note = (event: string): void => {
    hash.update(`${atMs()} ${event}\n`);
    options.onEvent?.(atMs(), event);
  };
  const onFault = (oracle: string, says: string): void => {
    if (faults.filter((fault) => fault.oracle === oracle).length < 3) faults.push({ atMs: atMs(), oracle, says });
    note(`FAULT ${oracle}: ${says}`);
  };
  const { service, estate } = createEstateService(plan, time);
  const weather = { usual: { ...fairWeather, minMs: plan.minMs, date: plan.date }, fronts: [] };
  const sent: number[] = [];
  const engine = createEngine(time, dice.of('engine'));
  engine.skewMs = dice.pick([0, 0, 70_000, -3_600_000]);
  const collector = createCollector({ time, dice: dice.of('collector'), timeoutMs: 10_000 });
  const toDispatcher = createNetwork({
    time,
    service: service.world,
    climate: weather,
    dice: dice.of('network'),
    onSent: (path) => {
      sent.push(time.nowMs());
      note(`> ${path}`);
    },
    onEnd: () => undefined,
  });
  const config = await configure(toYaml(plan));
  const slots = createSlots(daemons, (slot, generation) =>
    startReplicaProcess({
      name: `r${slot}-${generation}`,
      config,
      time,
      hands: { wallOffsetMs: [0, 90_000.5, -4000][slot] ?? 0, drift: [0, 2e-5, -3e-5][slot] ?? 0 },
      dice: dice.of(`daemon ${slot} ${generation}`),
      engine,
      toDispatcher,
      post: collector.post,
      apartMs: 1000,
      onLine: note,
    }),
  );
  const scene: Scene = {
    plan,
    time,
    dice,
    service,
    weather,
    collector,
    estate,
    hands: { wallOffsetMs: 0 },
    operator: noOperator,
    truth: createTruth(),
    note,
  };
  const watch = createWatch({ onFault, nowMs: atMs, scene });
  engine.onAcquired = watch.noteAcquired;
  function scrape(): void {
    watch.look(slots.alive());
    time.after(plan.scrapeMs / 5, scrape);
  }
  time.after(plan.scrapeMs * 0.37, scrape);
  slots.startAll();
  startTraffic(scene, birthMs + plan.lengthMs);
  for (const played of cards) time.after(played.atMs, () => playCard(played, { scene, slots, engine, watch, dice }));
  const lastMs = Math.max(plan.lengthMs, ...cards.map((card) => card.atMs + card.forMs + 60_000));
  await time.run(birthMs + lastMs);
  finishLast(scene);
  service.control.setExecutionMode('passive');
  let last = await judgeNow();
  for (let minutes = 0; minutes < 20 && (minutes < 4 || last.length > 0); minutes += 1) {
    await time.run(time.nowMs() + minuteMs);
    last = await judgeNow();
  }
  for (const { oracle, says } of last) onFault(oracle, says);
  judgeLoad(sent, plan, onFault);
  for (const process of slots.alive()) process.kill();
  return {
    seed,
    hash: hash.digest('hex').slice(0, 16),
    cards,
    faults,
    executions: service.world.history.length,
    traces: collector.arrivals.size,
    requests: sent.length,
    gapsMs: watch.gapsMs(),
  };

  async function judgeNow(): Promise<{ oracle: string; says: string }[]> {
    const found: { oracle: string; says: string }[] = [];
    const owner = slots.alive().find(({ replica }) => replica.toOwned().has(unitName));
    if (owner === undefined) return [{ oracle: 'somebody owns the server', says: 'nobody does' }];
    const { disk } = engine.unit(unitName);
    judgeEnd(
      {
        scene,
        shown: readShown(owner.scrape()),
        entriesOf: (id) => disk.servers.get(unitName)?.entries.get(id) ?? [],
        lagSeconds: await valueOf(owner.self.executionLag, {}),
        pending: (await valueOf(owner.self.tracesPending, {})) ?? 0,
        spooled: disk.spool.size,
      },
      (oracle, says) => found.push({ oracle, says }),
    );
    return found;
  }
}

/** The plan of all these worlds: only daemons and database have problems. */
const steady = {
  size: 'small',
  lengthMs: 6 * minuteMs,
  gapMs: 15_000,
  scrapeMs: 15_000,
  executionsEveryMs: 15_000,
  requestsPerSecond: 10,
  holdMs: 0,
  backfillMs: 0,
  maxDelayMs: 3 * minuteMs,
  catchUpLimitMs: 168 * 60 * minuteMs,
  minMs: 20,
  tailShare: 0,
  date: 'own',
  totals: 'true',
  skewMs: 0,
  members: 1,
  serverAheadMs: 0,
  drift: 0,
  state: 'memory',
  cards: [],
} as const;

const noOperator: Operator = {
  kill: () => undefined,
  stop: () => undefined,
  hold: () => undefined,
  reload: () => undefined,
  fillDisk: () => undefined,
  restoreCopy: () => undefined,
  upgrade: () => undefined,
  isUp: () => true,
};
