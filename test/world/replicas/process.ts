import type { ToDispatcher } from '../../../src/api/wire/transport.ts';
import type { Config } from '../../../src/config/config.ts';
import type { ToTraces } from '../../../src/daemon/generation.ts';
import { createReplica } from '../../../src/daemon/replica.ts';
import { createDelivery } from '../../../src/daemon/trace-delivery.ts';
import { createTraces } from '../../../src/daemon/trace-pipeline.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { createSelf } from '../../../src/metrics/self.ts';
import { createSnapshots } from '../../../src/metrics/snapshot.ts';
import type { Post } from '../../../src/tracing/deliver/post.ts';
import { otlp, toPlainBlock } from '../daemon.ts';
import type { Dice } from '../dice.ts';
import { createVirtualPollTimes } from '../poll-times.ts';
import { createDaemonClock, type Hands, type VirtualTime } from '../virtual-time.ts';
import type { Engine, Link } from './engine.ts';

type ProcessOptions = {
  readonly name: string;
  readonly config: Config;
  readonly time: VirtualTime;
  readonly hands: Hands;
  readonly dice: Dice;
  readonly engine: Engine;
  readonly toDispatcher: ToDispatcher;
  readonly post: Post;
  readonly apartMs: number;
  readonly onLine: (text: string) => void;
};

/** One of several daemons. Tests can kill, stop and disconnect the process. */
export type Process = ReturnType<typeof startReplicaProcess>;

export function startReplicaProcess(options: ProcessOptions) {
  const { name, config, time, engine, apartMs, onLine } = options;
  const gate = createGate();
  const clock = throughGate(createDaemonClock(time, options.hands, options.dice).clock, gate);
  const self = createSelf({ version: 'world', nodeVersion: 'none', measuresProcess: false });
  const snapshots = createSnapshots(clock, toPlainBlock);
  const say =
    (level: string) =>
    (_fields: unknown, message: string): void =>
      onLine(`${name} ${level} ${message} ${JSON.stringify(_fields)}`);
  const log = { debug: () => undefined, info: say('info'), warn: say('warn'), error: say('error') };
  const link: Link = { isCut: false, onWrite: undefined, onCommitted: undefined, wallMs: clock.now, pass: gate.pass };
  const post: Post = {
    ...options.post,
    send: async (...asked) => {
      const answer = await options.post.send(...asked).then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error;
        },
      );
      await gate.pass();
      return answer();
    },
  };
  const shared = { log, clock, self, version: 'world' };
  const toTraces: ToTraces = (given, state) =>
    given.traces.enabled === 'off'
      ? undefined
      : createTraces({ ...shared, config: given, otlp, state, toPost: () => post, toDelivery: createDelivery });
  const replica = createReplica({
    ...shared,
    config,
    snapshots,
    shared: engine.connect({ owner: name, address: `http://${name}` }, link),
    onSecret: () => undefined,
    toDispatcher: (...asked) => dispatchThrough(options.toDispatcher(...asked), gate),
    toPollTimes: createVirtualPollTimes(clock, apartMs),
    toTraces,
    keptPlans: { reload: () => undefined },
    ownUrl: `http://${name}`,
  });
  replica.start();
  return {
    name,
    self,
    link,
    replica,
    scrape: () => snapshots.show('text', { servers: replica.toOwned() }).text,
    isPaused: gate.isShut,
    reload: () => replica.reload(config, toTraces),
    pause: gate.shut,
    resume: gate.open,
    kill: gate.kill,
  };
}

/** Delays all events of a process while the process is stopped, and drops them after its end. */
function createGate() {
  let state: 'open' | 'shut' | 'dead' = 'open';
  let waiting: (() => void)[] = [];
  const run = (act: () => void): void => {
    if (state === 'open') act();
    else if (state === 'shut') waiting.push(act);
  };
  return {
    run,
    pass: (): Promise<void> => new Promise((resolve) => run(resolve)),
    isShut: () => state === 'shut',
    shut: (): void => {
      if (state === 'open') state = 'shut';
    },
    open: (): void => {
      if (state !== 'shut') return;
      state = 'open';
      const all = waiting;
      waiting = [];
      for (const act of all) run(act);
    },
    kill: (): void => {
      state = 'dead';
      waiting = [];
    },
  };
}

type Gate = ReturnType<typeof createGate>;

function throughGate(clock: Clock, gate: Gate): Clock {
  return {
    ...clock,
    after: (ms, act) => {
      let isCancelled = false;
      const cancel = clock.after(ms, () =>
        gate.run(() => {
          if (!isCancelled) act();
        }),
      );
      return () => {
        isCancelled = true;
        cancel();
      };
    },
    nextTurn: async () => {
      await clock.nextTurn();
      await gate.pass();
    },
  };
}

function dispatchThrough(way: ReturnType<ToDispatcher>, gate: Gate): ReturnType<ToDispatcher> {
  return {
    ...way,
    dispatch: (request, handler) => {
      // A process that has ended sends nothing.
      gate.run(() => {
        way.dispatch(request, {
          ...handler,
          onRequestStart: (...told) => handler.onRequestStart?.(...told),
          onResponseStart: (...told) => gate.run(() => handler.onResponseStart?.(...told)),
          onResponseData: (...told) => gate.run(() => handler.onResponseData?.(...told)),
          onResponseEnd: (...told) => gate.run(() => handler.onResponseEnd?.(...told)),
          onResponseError: (...told) => gate.run(() => handler.onResponseError?.(...told)),
        });
      });
      return true;
    },
  };
}
