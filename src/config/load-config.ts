import { type Complaint, createComplaints } from '../domain/complaint.ts';
import type { ReadFile } from '../domain/secret.ts';
import type { WebConfig } from '../domain/web-config.ts';
import type { Config } from './config.ts';
import { listGeneralLeaves, listLaunchLeaves } from './declare/catalogue.ts';
import { type CollectorDefaults, type FamilyFacts, generalOptions, launchOptions } from './declare/options.ts';
import { toSettings } from './declare/settings.ts';
import { toChoice, toOverrideChoice } from './patterns/pattern.ts';
import {
  checkBackfill,
  checkDatabase,
  resolveCollectors,
  resolveFamilies,
  settleExclusions,
} from './read/collectors.ts';
import type { Arguments } from './read/command-line.ts';
import type { ConfigFileOptions } from './read/config-file.ts';
import { readEnvironment } from './read/environment.ts';
import type { FileValues } from './read/file-values.ts';
import type { TakenLabels } from './read/label-rules.ts';
import { type Resolved, resolveAll, type Sources } from './read/resolve.ts';
import type { TlsRules } from './read/server-rules.ts';
import { readServers } from './read/servers.ts';
import type { WebConfigOptions } from './read/web-config.ts';
import { isInShard } from './values/number.ts';

export type LoadOptions = {
  readonly arguments: Pick<Arguments, 'flags' | 'problems'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  readonly collectors: readonly CollectorDefaults[];
  readonly families?: readonly FamilyFacts[];
  readonly takenLabels?: TakenLabels;
  /** Explains why this interval is not possible; undefined if it is. */
  readonly validateInterval?: (intervalMs: number) => string | undefined;
  /** Explains what is wrong with the certificates and keys of a server. */
  readonly validateTls?: TlsRules['validateTls'];
};

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      /** The file that was read; a reload reads it again. */
      readonly configFile: string | undefined;
      /** True for `--config.check`. */
      readonly checkOnly: boolean;
      /** The number of configured servers that other shards watch. */
      readonly otherServers: number;
      /** The origin of each value by its path; the others are defaults. */
      readonly origins: ReadonlyMap<string, string>;
    }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { collectors, families = [], readFile, validateTls, takenLabels = noLabels } = options;
  const { flags, problems } = options.arguments;
  const complaints = createComplaints();
  for (const { place, message, hint } of problems) complaints.add(place, message, hint);
  const environment = readEnvironment(options.env, collectors, complaints);

  const launched = resolveAll(listLaunchLeaves(), { flags, environment, file: new Map() }, complaints);
  const launch = toSettings(launchOptions, (path) => launched.get(path.replaceAll('_', '-'))?.value);
  const configFile = launch.config.file;
  const place = launched.get('config.file')?.place?.text ?? '';
  const file = await readFileIfNamed(configFile, { place, readFile, collectors, families, complaints });

  const sources: Sources = { flags, environment, file: file.values };
  const general = settleExclusions(resolveAll(listGeneralLeaves(), sources, complaints), complaints);
  checkBackfill(general, complaints);
  checkDatabase(general, complaints);
  const polled = resolveCollectors(
    { ...options, disableDefaults: launch.collector.disableDefaults },
    sources,
    complaints,
  );
  const ruled = resolveFamilies(families, sources, complaints);
  const watched = await readServers({ sources, file, readFile, validateTls, takenLabels, complaints });
  const webConfig = await readWebConfigIfNamed(general.get('web.config_file'), { readFile, validateTls, complaints });

  const found = complaints.list();
  if (found.length > 0) return { ok: false, complaints: found };
  const { jobs, metrics, ...settings } = toSettings(generalOptions, (path) => general.get(path)?.value);
  const servers = watched.servers.filter(({ name }) => launch.shard === undefined || isInShard(name, launch.shard));
  const config: Config = {
    ...settings,
    jobs: { ...jobs, isWanted: toChoice(jobs), ...toOverrideChoice(jobs.overrides) },
    metrics: { ...metrics, families: ruled.families },
    servers,
    collectors: polled.collectors,
    webConfig,
  };
  const origins = toOrigins([...general, ...polled.resolved, ...ruled.resolved, ...watched.resolved]);
  const otherServers = watched.servers.length - servers.length;
  return { ok: true, config, configFile, checkOnly: launch.config.check, otherServers, origins };
}

const noLabels: TakenLabels = { ofServers: [], ofProjects: [] };

function toOrigins(resolved: readonly (readonly [string, Resolved])[]): ReadonlyMap<string, string> {
  return new Map(resolved.flatMap(([path, { place }]) => (place === undefined ? [] : [[path, place.text] as const])));
}

// Parsing YAML takes a large part of the start, so the parser is loaded only for a file.
async function readFileIfNamed(path: string | undefined, about: ConfigFileOptions): Promise<FileValues> {
  if (path === undefined) return { values: new Map(), servers: [], faulty: new Set(), complete: true };
  const { readConfigFile } = await import('./read/config-file.ts');
  return readConfigFile(path, about);
}

async function readWebConfigIfNamed(
  named: Resolved | undefined,
  about: Omit<WebConfigOptions, 'place'>,
): Promise<WebConfig | undefined> {
  if (typeof named?.value !== 'string') return undefined;
  const { readWebConfig } = await import('./read/web-config.ts');
  return readWebConfig(named.value, { ...about, place: named.place?.text ?? '' });
}
