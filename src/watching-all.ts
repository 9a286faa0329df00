import type { Registry } from 'prom-client';
import type { Config } from './config/config.ts';
import { forgetSeries } from './metrics/forget.ts';
import type { PollKey } from './schedule/publisher.ts';
import type { Scheduler } from './schedule/scheduler.ts';
import type { Traces } from './traces.ts';
import type { WatchedServer } from './watching.ts';

/** What follows from a configuration, and goes with it. */
export type Watching = {
  readonly config: Config;
  readonly watched: ReadonlyMap<string, WatchedServer>;
  readonly scheduler: Scheduler;
  readonly traces: Traces | undefined;
};

export function startWatching({ scheduler, watched, traces }: Watching): void {
  traces?.start();
  for (const { traceLoop } of watched.values()) traceLoop?.start();
  scheduler.start();
}

/** Ends all of it, whatever of it does not end as it should: that is said, and holds up nothing else. */
export async function stopWatching({ scheduler, watched, traces }: Watching, onFault: OnFault): Promise<void> {
  const servers = [...watched.values()];
  const ends: (() => Promise<unknown> | undefined)[] = [
    scheduler.stop,
    ...servers.map(
      ({ traceLoop }) =>
        () =>
          traceLoop?.stop(),
    ),
    ...servers.flatMap(({ connections }) => connections.map(({ close }) => close)),
  ];
  await settleAll(ends, onFault);
  await settleAll([async () => traces?.stop()], onFault);
}

type OnFault = (error: unknown) => void;

async function settleAll(ends: readonly (() => Promise<unknown> | undefined)[], onFault: OnFault): Promise<void> {
  const settled = await Promise.allSettled(ends.map(async (end) => end()));
  for (const each of settled) {
    if (each.status === 'rejected') onFault(each.reason);
  }
}

/** The vital polls that have not been tried once. */
export function listUntried({ scheduler }: Watching): string[] {
  const untried = scheduler.status().filter(({ vital, last }) => vital && last === undefined);
  return untried.map(({ key }) => Object.values(key).join(' '));
}

/** Shows nothing any longer of what only the configuration before had, and again what both have. */
export async function leaveBehind(before: Watching, after: Watching, registry: Registry): Promise<void> {
  const kept = new Set(keysOf(after).map(toText));
  for (const key of keysOf(before)) if (!kept.has(toText(key))) before.watched.get(key.server)?.withdraw(key);
  await forgetSeries(registry, (labels) => isGone(labels, after, kept));
  for (const server of after.watched.values()) await server.resume();
}

function keysOf({ watched }: Watching): PollKey[] {
  return [...watched.values()].flatMap(({ polls }) => polls.map(({ key }) => key));
}

function toText({ server, member, collector }: Readonly<Partial<Record<string, string | number>>>): string {
  return JSON.stringify([server, member, collector]);
}

/** Whether a series of our own is about a server, a member or a poll that there is no longer. */
function isGone(labels: Readonly<Record<string, string | number>>, { watched }: Watching, kept: Set<string>): boolean {
  const { server, member, collector, reason } = labels;
  if (server === undefined) return false;
  const watchedServer = watched.get(String(server));
  if (watchedServer === undefined) return true;
  if (member !== undefined && !watchedServer.members.includes(String(member))) return true;
  if (collector === undefined) return false;
  // Why it is off stands there without a member.
  if (reason === 'config') return watchedServer.polls.some(({ key }) => key.collector === collector);
  return !kept.has(toText(labels));
}
