import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToDispatcher } from '../../src/api/wire/transport.ts';
import type { Config } from '../../src/config/config.ts';
import { openSqliteState } from '../../src/state/sqlite.ts';
import type { State } from '../../src/state/state.ts';
import type { Collector } from './collector.ts';
import { type Change, configure, toYaml } from './configured.ts';
import { createDaemon, type Daemon } from './daemon.ts';
import type { Dice } from './dice.ts';
import { copyDisk, createDisk, type Disk, openMemoryState } from './memory-state.ts';
import { ageDisk, ageFile } from './older-state.ts';
import type { Plan } from './plan.ts';
import type { Operator, TruthBook } from './scene.ts';
import { createDaemonClock, type DaemonClock, type Hands, type VirtualTime } from './virtual-time.ts';

type OperatorOptions = {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly hands: Hands;
  readonly toDispatcher: ToDispatcher;
  readonly collector: Collector;
  readonly truth: TruthBook;
  readonly note: (event: string) => void;
};

type Running = {
  readonly daemon: Daemon;
  readonly clock: DaemonClock;
  readonly state: State;
  readonly sinceMs: number;
};

export type Operations = Operator & {
  readonly start: () => Promise<void>;
  readonly running: () => Running | undefined;
  readonly disk: () => Disk | undefined;
  readonly end: () => Promise<void>;
};

/** Starts the daemon with its disk, ends it in different ways, and starts it again. */
export async function createOperations(options: OperatorOptions): Promise<Operations> {
  const { plan, time, dice, hands, toDispatcher, collector, truth, note } = options;
  let change: Change = {};
  let config = await configure(toYaml(plan));
  const dir = plan.state === 'sqlite' ? mkdtempSync(join(tmpdir(), 'world-')) : undefined;
  const isCopied = plan.cards.some(({ card }) => card === 'restored copy');
  let disk = createDisk();
  let copy: { readonly disk: Disk; readonly atMs: number } | undefined;
  let running: Running | undefined;
  let generation = 0;
  let isRestored = false;
  let isStopping = false;
  let closing = Promise.resolve();

  function openState(clock: DaemonClock): State {
    if (dir !== undefined) return openSqliteState({ dir }, clock.clock);
    const origin = isRestored ? ({ kind: 'restored', damaged: 'state.sqlite' } as const) : ({ kind: 'usual' } as const);
    isRestored = false;
    return openMemoryState(disk, { wait: clock.clock.nextTurn, origin });
  }

  function startNow(): void {
    generation += 1;
    const clock = createDaemonClock(time, hands, dice.of(`daemon ${generation}`));
    const state = openState(clock);
    const post = collector.post;
    const onLine = (level: string, message: string): void => note(`${level} ${message}`);
    const daemon = createDaemon({ config, clock, state, toDispatcher, post, onLine, apartMs: plan.apartMs });
    running = { daemon, clock, state, sinceMs: time.nowMs() };
    note(`daemon ${generation} starts`);
    daemon.start();
  }

  function backAfter(ms: number, back: () => void = startNow): void {
    const trouble = { what: 'daemon' as const, fromMs: time.nowMs(), toMs: Number.POSITIVE_INFINITY };
    truth.troubles.push(trouble);
    time.after(ms, () => {
      trouble.toMs = time.nowMs();
      const awayMs = trouble.toMs - trouble.fromMs;
      // A small budget may delay the first read by some rounds.
      const firstReadMs = time.nowMs() + (plan.requestsPerSecond < 1 ? 180_000 : 60_000);
      if (awayMs > plan.catchUpLimitMs)
        truth.skipped.push({ fromMs: trouble.fromMs, beforeMs: firstReadMs - plan.catchUpLimitMs });
      back();
    });
  }

  /** Returns the daemon that can receive a signal now. */
  function reachable(): Running | undefined {
    return isStopping || running?.clock.isStopped() === true ? undefined : running;
  }

  function kill(backAfterMs: number): void {
    if (running === undefined || isStopping) return;
    running.clock.kill();
    if (dir !== undefined) closing = running.state.close();
    running = undefined;
    note('killed');
    backAfter(backAfterMs);
  }

  /** Reloads a configuration, if necessary at the next start or resume. */
  function reload(next: Config): void {
    config = next;
    if (isStopping) return;
    running?.clock.run(() => void running?.daemon.reload(next).then(() => note('reloaded')));
  }

  function keepCopy(): void {
    // If a restored copy contains no ids, the daemon mistakes runs from before the start of counting for later runs with
    // a wrong clock.
    const hasIds = [...disk.servers.values()].some(({ entries }) => entries.size > 0);
    const isUsable = running !== undefined && !disk.isFull && hasIds;
    if (isUsable) copy = { disk: copyDisk(disk), atMs: time.nowMs() };
    time.after(isUsable ? 600_000 : 15_000, keepCopy);
  }
  if (isCopied) time.after(120_000, keepCopy);

  return {
    start: async () => startNow(),
    running: () => running,
    disk: () => (dir === undefined ? disk : undefined),
    isUp: () => running !== undefined,
    kill,
    stop: (backAfterMs) => {
      const ending = reachable();
      if (ending === undefined) return;
      isStopping = true;
      note('stopping');
      void ending.daemon.stop().then(() => {
        isStopping = false;
        ending.clock.kill();
        if (dir !== undefined) void ending.state.close();
        running = undefined;
        note('stopped');
        backAfter(backAfterMs);
      });
    },
    hold: (forMs) => {
      const held = reachable();
      if (held === undefined) return;
      held.clock.stop(forMs);
      note('held');
      backAfter(forMs, () => {
        if (running === held) running = { ...held, sinceMs: time.nowMs() };
      });
    },
    reload: (further) => {
      change = { ...change, ...further };
      time.hold(configure(toYaml(plan, change)).then(reload));
    },
    fillDisk: (isFull) => {
      disk.isFull = isFull;
    },
    upgrade: (backAfterMs) => {
      if (running === undefined || isStopping) return;
      kill(backAfterMs);
      if (dir === undefined) ageDisk(disk);
      else time.hold(closing.then(() => ageFile(dir)));
    },
    restoreCopy: (backAfterMs) => {
      if (running === undefined || isStopping || copy === undefined) return;
      const { isFull } = disk;
      const nowMs = time.nowMs();
      truth.troubles.push({ what: 'restored', fromMs: nowMs, toMs: nowMs + backAfterMs, copiedAtMs: copy.atMs });
      kill(backAfterMs);
      disk = copyDisk(copy.disk);
      disk.isFull = isFull;
      isRestored = true;
    },
    end: async () => {
      running?.clock.kill();
      if (dir === undefined) return;
      await running?.state.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
