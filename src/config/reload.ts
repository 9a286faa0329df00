import { isDeepStrictEqual } from 'node:util';
import type { Complaint } from '../domain/complaint.ts';
import type { WebConfig } from '../domain/web-config.ts';
import type { Config } from './config.ts';
import { isFixed, listGeneralLeaves } from './declare/catalogue.ts';
import { toSettingName } from './declare/option.ts';
import type { LoadedConfig } from './load-config.ts';
import { isMap } from './values/lists.ts';

/** The new configuration, or all complaints about it. After complaints, the running configuration stays. */
export type ReloadedConfig =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Complaint[] }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

/** Reads all sources again. Options that need a restart keep their values, each with a warning. */
export async function reloadConfig(load: () => Promise<LoadedConfig>, running: Config): Promise<ReloadedConfig> {
  const loaded = await load();
  if (!loaded.ok) return loaded;
  const { config: next, configFile, origins } = loaded;
  if (next.servers.length === 0 && running.servers.length > 0) {
    const complaint = { place: configFile ?? 'servers', message: 'no longer names a server', hint: 'stop the daemon' };
    return { ok: false, complaints: [complaint] };
  }
  const kept = listFixedOptions().filter(({ keys }) => !isDeepStrictEqual(read(next, keys), read(running, keys)));
  const warnings = kept.map(({ path }) => ({
    place: origins.get(path) ?? path,
    message: 'takes effect only after a restart',
  }));
  const keepsWebConfig =
    next.web.configFile !== running.web.configFile || needsRestart(next.webConfig, running.webConfig);
  if (keepsWebConfig && next.web.configFile === running.web.configFile)
    warnings.push({
      place: next.web.configFile ?? '',
      message:
        'switches TLS or client certificates on or off, or removes all users, which takes effect only after a restart',
    });
  let config: unknown = keepsWebConfig ? { ...next, webConfig: running.webConfig } : next;
  for (const { keys } of kept) config = write(config, keys, read(running, keys));
  // This cast is safe: each value has its place in a configuration.
  return { ok: true, config: config as Config, warnings };
}

/** Reports whether a listening server cannot change from one web configuration to the other. */
export function needsRestart(next: WebConfig | undefined, running: WebConfig | undefined): boolean {
  const toTraits = (config: WebConfig | undefined) => [config?.tls !== undefined, config?.tls?.clientAuth.isRequested];
  // Without users, everyone is admitted, and a file that is being written may have no users yet.
  const losesUsers = running !== undefined && running.users.size > 0 && next?.users.size === 0;
  return losesUsers || !isDeepStrictEqual(toTraits(next), toTraits(running));
}

/** Returns the options that a reload does not change, with the keys of their settings. */
function listFixedOptions(): { path: string; keys: readonly string[] }[] {
  const fixed = listGeneralLeaves().filter(isFixed);
  return fixed.map(({ key: path, option }) => {
    return { path, keys: path.split('.').map((key) => toSettingName(key, option.type.kind)) };
  });
}

function read(settings: unknown, keys: readonly string[]): unknown {
  let found = settings;
  for (const key of keys) found = isMap(found) ? found[key] : undefined;
  return found;
}

function write(settings: unknown, [key, ...inner]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const map = isMap(settings) ? settings : {};
  return { ...map, [key]: write(map[key], inner, value) };
}
