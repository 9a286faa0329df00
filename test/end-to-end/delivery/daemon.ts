import { setImmediate as turn } from 'node:timers/promises';
import type { Dice } from '../../world/dice.ts';
import type { StopPoint } from './points.ts';
import type { Sightings } from './sightings.ts';
import type { Waiting } from './tracing.ts';
import { startWatched, type WatchedProcess } from './watched-process.ts';
import type { Order, Word } from './watcher.ts';

export type Daemon = {
  /** Plays one round, the last of the process if `isLast`; returns its error. */
  readonly round: (nowMs: number, isLast: boolean) => Promise<string | undefined>;
  readonly noteRequest: () => void;
  /** Called when a request arrives at the collector, and after the response is sent. */
  readonly noteDelivery: (moment: Moment) => void;
  /** The traces that are waiting. */
  readonly look: () => Promise<Waiting | undefined>;
  readonly weigh: () => Promise<number | undefined>;
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type Moment = 'arrived' | 'answered';

type DaemonOptions = {
  readonly order: Omit<Extract<Order, { do: 'open' }>, 'nowMs'>;
  readonly random: Dice;
  readonly sightings: Sightings;
  readonly hear: (word: Word) => void;
};

type Death =
  | { readonly by: 'point'; readonly point: StopPoint }
  | { readonly by: 'delivery'; readonly moment: Moment; readonly after: number }
  | { readonly by: 'request' | 'turns'; readonly after: number };

/** Runs the daemon in several processes, one after the other, with the same state; the next one is already loaded and waits. */
export function startDaemon({ order, random, sightings, hear }: DaemonOptions): Daemon {
  let standby = start();
  let current: WatchedProcess | undefined;
  let requestsLeft = Number.POSITIVE_INFINITY;
  let deliveriesLeft: { readonly moment: Moment; count: number } | undefined;
  let stoppedAt: StopPoint['at'] | undefined;
  let nowMs = 0;

  function start(): WatchedProcess {
    return startWatched((word) => {
      if (word.says === 'stopped') stoppedAt = word.point.at;
      hear(word);
    });
  }

  async function open(): Promise<WatchedProcess> {
    for (;;) {
      const next = standby;
      await next.ready;
      standby = start();
      const opening = next.order({ ...order, nowMs }, ['opened']);
      // Some processes are killed before they open their state.
      if (current === undefined && sightings.count('kills') % 9 === 8) {
        await bury(next);
        continue;
      }
      if ((await opening) === undefined) throw new Error('the daemon did not open its state');
      return next;
    }
  }

  async function bury(process: WatchedProcess): Promise<void> {
    await process.kill();
    current = undefined;
    requestsLeft = Number.POSITIVE_INFINITY;
    deliveriesLeft = undefined;
    sightings.see('kills');
    if (stoppedAt !== undefined) sightings.see(sights[stoppedAt]);
    stoppedAt = undefined;
  }

  function toDeath(): Death {
    const at = random.pick(places);
    const point = { at, commits: random.between(0, 1), writes: random.between(1, 3) };
    return random.pick<Death>([
      { by: 'point', point },
      { by: 'point', point },
      { by: 'request', after: random.between(1, 12) },
      { by: 'turns', after: random.between(1, 300) },
      { by: 'point', point },
      toDelivery(),
    ]);
  }

  function toDelivery(): Death {
    return { by: 'delivery', moment: random.pick(['arrived', 'answered']), after: random.between(1, 2) };
  }

  /** Traces are also sent after a round, so the process may be killed after its end. */
  async function waitForDeath(process: WatchedProcess, death: Death): Promise<void> {
    const isBeside = death.by === 'delivery' || (death.by === 'point' && /spooling|answered/.test(death.point.at));
    if (isBeside) await process.hearNext(['stopped'], maxWaitMs);
  }

  return {
    noteRequest: () => {
      requestsLeft -= 1;
      if (requestsLeft === 0) void current?.kill();
    },
    noteDelivery: (moment) => {
      if (deliveriesLeft?.moment !== moment) return;
      deliveriesLeft.count -= 1;
      if (deliveriesLeft.count > 0) return;
      deliveriesLeft = undefined;
      sightings.see('kills around an answer');
      void current?.kill();
    },
    look: async () => {
      current ??= await open();
      const word = await current.order({ do: 'look' }, ['waiting']);
      return word?.says === 'waiting' ? word.waiting : undefined;
    },
    weigh: async () => {
      const word = await current?.order({ do: 'weigh' }, ['weight']);
      return word?.says === 'weight' ? word.bytes : undefined;
    },
    round: async (atMs, isLast) => {
      nowMs = atMs;
      current ??= await open();
      const process = current;
      const death = isLast ? toDeath() : undefined;
      if (death?.by === 'request') requestsLeft = death.after;
      if (death?.by === 'delivery') deliveriesLeft = { moment: death.moment, count: death.after };
      const stopAt = death?.by === 'point' ? { stopAt: death.point } : {};
      const told = process.order({ do: 'round', nowMs, ...stopAt }, ['done', 'stopped']);
      if (death?.by === 'turns') {
        for (let turns = 0; turns < death.after; turns += 1) await turn();
        await bury(process);
        return undefined;
      }
      const word: Word | undefined = await told;
      if (death === undefined && word === undefined) throw new Error('the daemon ended by itself');
      if (death !== undefined && word?.says === 'done') await waitForDeath(process, death);
      // If the stop point is not reached, the process is killed between two rounds.
      if (death !== undefined) await bury(process);
      return word?.says === 'done' ? word.fault : undefined;
    },
    kill: async () => {
      if (current !== undefined) await bury(current);
    },
    stop: async () => {
      await Promise.all([current?.kill(), standby.kill()]);
    },
  };
}

const places: Places = [
  'before-commit',
  ...(['in-commit', 'in-commit', 'in-commit', 'after-commit', 'after-commit'] as const),
  ...(['in-spooling', 'in-spooling', 'published', 'answered', 'answered', 'answered'] as const),
];

type Places = readonly [StopPoint['at'], ...StopPoint['at'][]];

const sights: Readonly<Record<StopPoint['at'], string>> = {
  'before-commit': 'kills before a transaction',
  'in-commit': 'kills inside a transaction',
  'in-spooling': 'kills inside one that spools a trace',
  'after-commit': 'kills after a transaction',
  published: 'kills once all is shown',
  answered: 'kills between an answer and what follows',
};

/** Without a collector, no delivery reaches the stop point, so the wait has a limit. */
const maxWaitMs = 500;
