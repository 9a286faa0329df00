import type { ToDispatcher } from '../../src/api/wire/transport.ts';
import type { Config } from '../../src/config/config.ts';
import type { ToTraces, Watching } from '../../src/daemon/generation.ts';
import { createSingle } from '../../src/daemon/single.ts';
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

type DaemonOptions = {
  readonly config: Config;
  readonly clock: DaemonClock;
  readonly state: State;
  readonly toDispatcher: ToDispatcher;
  readonly post: Post;
  /** The time between two played polls; other polls are omitted. */
  readonly apartMs: number | undefined;
  readonly onLine: (level: string, message: string, fields: LogFields) => void;
};

export type Daemon = {
  readonly start: () => void;
  /** The series of the watched servers in one scrape. */
  readonly scrape: () => readonly Buffer[];
  readonly self: Self;
  readonly reload: (config: Config) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
  readonly watching: () => Watching;
};

/** The daemon, without sockets, processes and disks. */
export function createDaemon(options: DaemonOptions): Daemon {
  const { config, clock: hands, state, toDispatcher, post, onLine, apartMs = 1000 } = options;
  const { clock } = hands;
  const self = createSelf({ version: 'world', nodeVersion: 'none', measuresProcess: false });
  const snapshots = createSnapshots(clock, toPlainBlock);
  const say = (level: string) => (fields: LogFields, message: string) => {
    // An incomplete shutdown is a fault here.
    if (message === 'shutdown incomplete') throw new Error(message, { cause: fields });
    onLine(level, message, fields);
  };
  const log = { debug: () => undefined, info: say('info'), warn: say('warn'), error: say('error') };
  const shared = { self, log, clock, version: 'world' };
  const toTraces: ToTraces = (given, of) =>
    given.traces.enabled === 'off'
      ? undefined
      : createTraces({ ...shared, config: given, otlp, state: of, toPost: () => post, toDelivery: createDelivery });
  const watch = createSingle({
    ...shared,
    config,
    onSecret: () => undefined,
    state,
    snapshots,
    toDispatcher,
    keptPlans: { reload: () => undefined },
    toTraces,
    toPollTimes: createVirtualPollTimes(clock, apartMs),
  });
  let reloading = Promise.resolve();

  return {
    self,
    start: watch.start,
    scrape: () => snapshots.show('text').text,
    watching: watch.watching,
    reload: async (next) => {
      const before = reloading;
      const { promise, resolve } = Promise.withResolvers<void>();
      reloading = promise;
      await before;
      await watch.reload(next, toTraces).finally(resolve);
    },
    stop: async () => {
      await Promise.all([watch.stop(), reloading]);
    },
    kill: hands.kill,
  };
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

/** Renders text without compression, which would run in another thread. */
export async function toPlainBlock(bytes: Buffer): Promise<Block> {
  return { ...emptyBlock, text: [bytes], length: bytes.length };
}
