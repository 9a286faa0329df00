import { setImmediate as turn } from 'node:timers/promises';
import type { StopPoint } from './points.ts';
import type { Random } from './random.ts';
import type { Sightings } from './sightings.ts';
import { startWatched, type WatchedProcess } from './watched-process.ts';
import type { Order, Word } from './watcher.ts';

export type Daemon = {
  /** One round, or one that does not come to its end; the fault it told of, if it lived to tell. */
  readonly round: (nowMs: number, isLast: boolean) => Promise<string | undefined>;
  readonly noteRequest: () => void;
  /** Kills it between two rounds. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type DaemonOptions = {
  readonly order: Extract<Order, { do: 'open' }>;
  readonly random: Random;
  readonly sightings: Sightings;
  readonly onText: (text: string) => void;
  readonly cacheDir: string;
};

type Death =
  | { readonly by: 'point'; readonly point: StopPoint }
  | { readonly by: 'request' | 'turns'; readonly after: number };

/** The daemon over all its lives, each a process of its own on the same state; the next one waits, loaded and idle. */
export function startDaemon({ order, random, sightings, onText, cacheDir }: DaemonOptions): Daemon {
  let standby = start();
  let current: WatchedProcess | undefined;
  let requestsLeft = Number.POSITIVE_INFINITY;
  let isInside = false;

  function start(): WatchedProcess {
    return startWatched((word) => {
      if (word.says === 'published') onText(word.text);
      if (word.says === 'stopped') isInside = word.point.at === 'in-commit';
    }, cacheDir);
  }

  async function open(): Promise<WatchedProcess> {
    for (;;) {
      const next = standby;
      await next.ready;
      standby = start();
      const opening = next.order(order, ['opened']);
      // Some do not even live to open their state.
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
    sightings.see('kills');
    if (isInside) sightings.see('kills inside a transaction');
    isInside = false;
  }

  function toDeath(): Death {
    const at = random.pick([
      'before-commit',
      'in-commit',
      'in-commit',
      'in-commit',
      'after-commit',
      'published',
    ] as const);
    const point = { at, commits: random.between(0, 4), writes: random.between(1, 3) };
    return random.pick<Death>([
      { by: 'point', point },
      { by: 'point', point },
      { by: 'request', after: random.between(1, 12) },
      { by: 'turns', after: random.between(1, 300) },
    ]);
  }

  return {
    noteRequest: () => {
      requestsLeft -= 1;
      if (requestsLeft === 0) void current?.kill();
    },
    round: async (nowMs, isLast) => {
      current ??= await open();
      const process = current;
      const death = isLast ? toDeath() : undefined;
      if (death?.by === 'request') requestsLeft = death.after;
      const stopAt = death?.by === 'point' ? { stopAt: death.point } : {};
      const told = process.order({ do: 'round', nowMs, ...stopAt }, ['done', 'stopped']);
      if (death?.by === 'turns') {
        for (let turns = 0; turns < death.after; turns += 1) await turn();
        await bury(process);
        return undefined;
      }
      const word: Word | undefined = await told;
      if (death === undefined && word === undefined) throw new Error('the daemon ended by itself');
      // A point that did not come up, too: then it dies between two rounds.
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
