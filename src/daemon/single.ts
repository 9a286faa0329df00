import type { Config } from '../config/config.ts';
import { forgetSeries } from '../metrics/exposition.ts';
import { type PollKey, toPollText } from '../schedule/outcome.ts';
import type { State } from '../state/state.ts';
import {
  startGeneration,
  stopGeneration,
  type ToTraces,
  type Watch,
  type Watching,
  type WatchParts,
  watchAll,
} from './generation.ts';
import { forgetTraces } from './instruments.ts';

/** Watches all servers. A generation is everything that one configuration started. */
export function createSingle(options: WatchParts & { readonly state: State }): Watch {
  const { state, log } = options;
  let { toTraces } = options;
  let isStopped = false;
  let current = make(options.config, toTraces);

  function make(config: Config, to: ToTraces, before?: Watching): Watching {
    return watchAll({ ...options, config, traces: to(config, state) }, before, options.toPollTimes);
  }

  /** Ends the polls of the old generation before the next generation starts, so that no server is polled twice. */
  async function replace(next: Watching): Promise<void> {
    const old = current;
    current = next;
    await stopGeneration(old, onFault);
    await leaveBehind(old, next);
    if (!isStopped && current === next) startGeneration(next);
  }

  /** Removes series that only the old configuration had, and publishes the other series again. */
  async function leaveBehind(before: Watching, after: Watching): Promise<void> {
    const { self, keptPlans } = options;
    try {
      forgetTraces(self, { areMade: after.traces !== undefined, areSent: after.traces?.delivery() !== undefined });
      keptPlans.reload(before.config, after.config);
      const kept = new Set(keysOf(after).map(toPollText));
      for (const key of keysOf(before)) if (!kept.has(toPollText(key))) before.watched.get(key.server)?.withdraw(key);
      await forgetSeries(self.registry, (labels) => isGone(labels, after, kept));
      for (const server of after.watched.values()) await server.resume();
    } catch (error) {
      onFault(error);
    }
  }

  function onFault(error: unknown): void {
    log.error({ error }, 'shutdown incomplete');
  }

  return {
    state,
    watching: () => current,
    start: () => startGeneration(current),
    stop: async (pushed) => {
      isStopped = true;
      await Promise.all([stopGeneration(current, onFault), pushed]);
    },
    reload: async (config, nextToTraces) => {
      const before = current;
      const after = make(config, nextToTraces, before);
      try {
        await replace(after);
      } catch (error) {
        await replace(make(before.config, toTraces, after));
        throw error;
      }
      toTraces = nextToTraces;
    },
    toOwned: () => undefined,
    epochOf: () => undefined,
    differing: () => [],
    away: () => undefined,
    leaseOf: () => undefined,
    watcherOf: () => ({ is: 'us' }),
  };
}

function keysOf({ watched }: Watching): PollKey[] {
  return [...watched.values()].flatMap(({ polls }) => polls.map(({ key }) => key));
}

/** Reports whether one of the exporter's own series is about a server, member or poll that no longer exists. */
function isGone(labels: Readonly<Record<string, string | number>>, { watched }: Watching, kept: Set<string>): boolean {
  const { server, member, collector, reason } = labels;
  if (server === undefined) return false;
  const watchedServer = watched.get(String(server));
  if (watchedServer === undefined) return true;
  if (member !== undefined && !watchedServer.members.includes(String(member))) return true;
  if (collector === undefined) return false;
  // The series with the label `reason` has no label `member`.
  if (reason === 'config') return watchedServer.polls.some(({ key }) => key.collector === collector);
  return !kept.has(toPollText(labels));
}
