import type { ToDispatcher } from '../../src/api/wire/transport.ts';
import type { Config } from '../../src/config/config.ts';
import {
  leaveBehind,
  startGeneration,
  stopGeneration,
  succeed,
  type Watching,
  watchAll,
} from '../../src/daemon/generation.ts';
import { createDelivery } from '../../src/daemon/trace-delivery.ts';
import { createTraces } from '../../src/daemon/trace-pipeline.ts';
import type { LogFields } from '../../src/domain/log.ts';
import { type Block, emptyBlock } from '../../src/metrics/block.ts';
import { createSelf, type Self } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import type { State } from '../../src/state/state.ts';
import type { Post } from '../../src/tracing/deliver/post.ts';
import { readOtlpSettings } from '../../src/tracing/deliver/settings.ts';
import { createVirtualPollTimes } from './poll-times.ts';
import type { DaemonClock } from './virtual-time.ts';

export type DaemonOptions = {
  readonly config: Config;
  readonly clock: DaemonClock;
  readonly state: State;
  readonly toDispatcher: ToDispatcher;
  readonly post: Post;
  /** Between the times of one poll and the next: others, that are not played, stand between them. */
  readonly apartMs: number | undefined;
  readonly onLine: (level: string, message: string, fields: LogFields) => void;
};

export type Daemon = {
  readonly start: () => void;
  /** What a scrape shows of the watched servers. */
  readonly scrape: () => readonly Buffer[];
  readonly self: Self;
  readonly reload: (config: Config) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
  readonly watching: () => Watching;
};

/** All of the daemon but what touches the world outside: no socket, no process, no disk. */
export function createDaemon(options: DaemonOptions): Daemon {
  const { config, clock: hands, state, toDispatcher, post, onLine, apartMs = 1000 } = options;
  const { clock } = hands;
  const self = createSelf({ version: 'world', nodeVersion: 'none', measuresProcess: false });
  const snapshots = createSnapshots(clock, toPlainBlock);
  const say = (level: string) => (fields: LogFields, message: string) => onLine(level, message, fields);
  const log = { debug: () => undefined, info: say('info'), warn: say('warn'), error: say('error') };
  let watching = watch(config);
  let reloading = Promise.resolve();
  let isStopped = false;
  const generations: Parameters<typeof succeed>[1] = {
    current: () => (isStopped ? undefined : watching),
    put: (next) => {
      watching = next;
    },
    make: async (given, before) => watch(given, before),
    end: (before) => stopGeneration(before, raise),
    leaveBehind: (before, after) =>
      leaveBehind(before, after, { self, keptPlans: { goOver: () => undefined }, onFault: raise }),
  };

  function watch(given: Config, before?: Watching): Watching {
    const isTraced = given.traces.enabled !== 'off';
    const options = {
      config: given,
      otlp,
      state,
      self,
      log,
      clock,
      version: 'world',
      toPost: () => post,
      toDelivery: createDelivery,
    };
    const traces = isTraced ? createTraces(options) : undefined;
    const parts = {
      config: given,
      log,
      clock,
      onSecret: () => undefined,
      state,
      snapshots,
      self,
      traces,
      toDispatcher,
    };
    return watchAll(parts, before, createVirtualPollTimes(clock, apartMs));
  }

  return {
    self,
    start: () => startGeneration(watching),
    scrape: () => snapshots.show('text').text,
    watching: () => watching,
    reload: async (next) => {
      const before = reloading;
      const { promise, resolve } = Promise.withResolvers<void>();
      reloading = promise;
      await before;
      await succeed(next, generations).finally(resolve);
    },
    stop: async () => {
      isStopped = true;
      await Promise.all([stopGeneration(watching, raise), reloading]);
    },
    kill: hands.kill,
  };
}

/** In this world everything ends as it should. */
function raise(fault: unknown): never {
  throw new Error('shutdown incomplete', { cause: fault });
}

export const otlp = toOtlp();

function toOtlp() {
  const settings = readOtlpSettings({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/v1/traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  if (!('endpoint' in settings)) throw new Error('the variables of OpenTelemetry are wrong');
  return settings;
}

/** Only text: deflating happens on another thread, and nobody here reads it. */
export async function toPlainBlock(bytes: Buffer): Promise<Block> {
  return { ...emptyBlock, text: [bytes], length: bytes.length };
}
