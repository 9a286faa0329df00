import type { Config, ServerConfig } from '../../../src/config/config.ts';
import { createDelivery } from '../../../src/daemon/trace-delivery.ts';
import { createTraces } from '../../../src/daemon/trace-pipeline.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { LogFields } from '../../../src/domain/log.ts';
import { systemClock } from '../../../src/domain/system-clock.ts';
import { createSelf, type Self } from '../../../src/metrics/self.ts';
import type { State } from '../../../src/state/state.ts';
import { PostFault } from '../../../src/tracing/deliver/observer.ts';
import { createWait } from '../../../src/tracing/deliver/pause.ts';
import type { Post } from '../../../src/tracing/deliver/post.ts';
import { type OtlpEnvironment, readOtlpSettings } from '../../../src/tracing/deliver/settings.ts';
import type { Trace } from './composition.ts';
import { followNames } from './names.ts';

/** How the daemon process creates and sends traces. */
export type TracingOrder = {
  readonly env: OtlpEnvironment;
  /** The settings of traces and of the server. */
  readonly traces: Config['traces'];
  readonly server: Pick<ServerConfig, 'name' | 'url' | 'namespace' | 'timeoutMs'>;
  /** A file with the address of the collector. */
  readonly addressFile?: string;
};

/** The waiting traces, and the daemon's own metrics. */
export type Waiting = {
  readonly pending: number;
  readonly spooled: number;
  readonly metrics: Readonly<Record<string, number>>;
};

export type Tracing = {
  readonly trace: Trace;
  readonly look: () => Promise<Waiting>;
  readonly stop: () => Promise<void>;
};

type TracingOptions = {
  readonly order: TracingOrder;
  readonly state: State;
  readonly clock: Clock;
  readonly answered?: () => void;
  readonly tell: (says: 'undelivered' | 'wrong', what: string) => void;
};

/** Creates and delivers traces like the daemon, with short waits. */
export function createTracing({ order, state, clock, answered, tell }: TracingOptions): Tracing {
  if (order.addressFile !== undefined) followNames(order.addressFile);
  const otlp = readOtlpSettings(order.env);
  if (!('endpoint' in otlp)) throw new Error('the variables are wrong');
  const self = createSelf({ version: 'test', nodeVersion: process.version });
  const post = watchPost({ answered, tell });
  const traces = createTraces({
    toDelivery: createDelivery,
    config: {
      ...order,
      diagnosis: {
        enabled: true,
        logs: 'fingerprint',
        overrides: [],
        redact: { sources: [], matches: () => false },
        logBytesPerHour: 2 ** 20,
        events: false,
      },
    },
    otlp,
    state,
    self,
    log: { debug: ignore, info: ignore, warn: ignore, error: tellUnlessRefused },
    // Without randomness, a retry would have no delay.
    clock: { ...clock, random: Math.random },
    version: 'test',
    selfTracing: { ofPost: post.of },
    wait: (forMs, signal) => {
      post.noteWait(forMs);
      return createWait(systemClock)(forMs / 1000, signal);
    },
  });
  const stops = [traces.stop];

  function tellUnlessRefused(fields: LogFields, message: string): void {
    if (!message.startsWith('trace quarantined: rejected')) tell('wrong', `${message} ${String(fields['error'])}`);
  }

  traces.start();
  return {
    trace: (joined) => {
      // This cast is safe: only these fields of a server are read.
      const { commitHook, loop } = traces.ofServer(order.server as ServerConfig, joined);
      loop.start();
      stops.unshift(loop.stop);
      return commitHook;
    },
    look: async () => ({
      pending: traces.delivery()?.pending ?? 0,
      spooled: (await state.spool.size()).traces,
      metrics: await readMetrics(self),
    }),
    stop: async () => {
      for (const stop of stops) await stop();
    },
  };
}

function ignore(): void {}

/** Reads the series of traces, by name and labels. */
async function readMetrics({ registry }: Self): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n');
  const pattern = /^automation_exporter_((?:traces|spans|spool)_\S*) (\S+)$/;
  const found = lines.map((line) => pattern.exec(line)).filter((match) => match !== null);
  return Object.fromEntries(found.map(([, name = '', value]) => [name, Number(value)]));
}

type Watching = {
  readonly answered?: (() => void) | undefined;
  readonly tell: (says: 'undelivered' | 'wrong', what: string) => void;
};

type WatchedPost = { readonly of: (post: Post) => Post; readonly noteWait: (forMs: number) => void };

/** Reports requests without a response, and requests before the end of a Retry-After. */
function watchPost({ answered, tell }: Watching): WatchedPost {
  /** The Retry-After of the collector. */
  let askedMs: number | undefined;
  return {
    of: (post) => ({
      ...post,
      send: async (content, signal) => {
        if (askedMs !== undefined) tell('wrong', `sent again before the ${askedMs} ms were over`);
        try {
          const answer = await post.send(content, signal);
          askedMs = answer.retryAfter === undefined ? undefined : 1000 * Number(answer.retryAfter);
          answered?.();
          return answer;
        } catch (error) {
          if (error instanceof PostFault) tell('undelivered', error.message);
          throw error;
        }
      },
    }),
    noteWait: (forMs) => {
      if (askedMs !== undefined && forMs >= askedMs) askedMs = undefined;
    },
  };
}
