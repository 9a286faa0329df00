import { isDeepStrictEqual } from 'node:util';
import type { Complaint } from './complaint.ts';
import type { Config } from './config.ts';
import type { LoadedConfig } from './load-config.ts';

/** What a reload came to, in sentences for whoever asked for it. */
export type ReloadOutcome =
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly complaints: readonly string[] };

/** The configuration to go on with, or all that is wrong with it; then the running one goes on. */
export type ReloadedConfig =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Complaint[] }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

/** Reads the sources of the start again. What only a restart can change stays as it is, each with a warning. */
export async function reloadConfig(load: () => Promise<LoadedConfig>, running: Config): Promise<ReloadedConfig> {
  const loaded = await load();
  if (!loaded.ok) return loaded;
  const { config: next, configFile, origins } = loaded;
  if (next.servers.length === 0 && running.servers.length > 0) {
    const complaint = { place: configFile ?? 'servers', message: 'names no server any more', hint: 'stop the daemon' };
    return { ok: false, complaints: [complaint] };
  }
  const warnings = untilRestart
    .filter(({ read }) => !isDeepStrictEqual(read(next), read(running)))
    .map(({ path }) => ({ place: origins.get(path) ?? path, message: 'changes with a restart alone' }));
  return { ok: true, config: keepUntilRestart(running, next), warnings };
}

const untilRestart: readonly { readonly path: string; readonly read: (config: Config) => unknown }[] = [
  { path: 'web.listen_address', read: ({ web }) => web.listenAddress },
  { path: 'web.telemetry_path', read: ({ web }) => web.telemetryPath },
  { path: 'web.route_prefix', read: ({ web }) => web.routePrefix },
  { path: 'web.max_requests', read: ({ web }) => web.maxRequests },
  { path: 'log.format', read: ({ log }) => log.format },
  { path: 'state.dir', read: ({ state }) => state.dir },
  { path: 'state.memory', read: ({ state }) => state.memory },
];

function keepUntilRestart({ web, log, state }: Config, next: Config): Config {
  const { listenAddress, telemetryPath, routePrefix, maxRequests } = web;
  return {
    ...next,
    web: { ...next.web, listenAddress, telemetryPath, routePrefix, maxRequests },
    log: { ...next.log, format: log.format },
    state,
  };
}
