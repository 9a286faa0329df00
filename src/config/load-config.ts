import { type Complaint, createComplaints } from '../domain/complaint.ts';
import type { ReadFile } from '../domain/secret.ts';
import type { Config } from './config.ts';
import { listGeneralLeaves, listLaunchLeaves, toFileTree } from './declare/catalogue.ts';
import { type CollectorDefaults, type FamilyFacts, generalOptions, launchOptions } from './declare/options.ts';
import { toChoice, toOverrideChoice } from './patterns/pattern.ts';
import { checkBackfill, checkDatabase, resolveCollector, resolveFamily, settleExclusions } from './read/collectors.ts';
import type { Arguments } from './read/command-line.ts';
import type { FileValues } from './read/file-values.ts';
import { type Resolved, readEnvironment, resolveTree, type Sources, toSettings } from './read/resolve.ts';
import type { TakenLabels, TlsRules } from './read/server-rules.ts';
import { readServers } from './read/servers.ts';
import { isInShard } from './values/number.ts';

export type LoadOptions = {
  readonly arguments: Pick<Arguments, 'flags' | 'problems'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: ReadFile;
  readonly collectors: readonly CollectorDefaults[];
  readonly families?: readonly FamilyFacts[];
  readonly takenLabels?: TakenLabels;
  /** True if the environment has the only server, as in the demo: the servers of the file are ignored. */
  readonly ignoresServers?: boolean;
  readonly validateInterval?: (intervalMs: number) => string | undefined;
  /** Explains what is wrong with the certificates and keys of a server. */
  readonly validateTls?: TlsRules['validateTls'];
};

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      /** The file that was read. A reload reads the file again. */
      readonly configFile: string | undefined;
      readonly checkOnly: boolean;
      /** The number of configured servers that other shards watch. */
      readonly otherServers: number;
      /** Sentences about values of the file that have no effect because of a variable. */
      readonly shadowed: readonly string[];
      /** The origin of each value by its path. Values without an entry are defaults. */
      readonly origins: ReadonlyMap<string, string>;
    }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { collectors, families = [], readFile, validateTls, takenLabels = noLabels } = options;
  const { flags, problems } = options.arguments;
  const complaints = createComplaints();
  for (const { place, message, hint } of problems) complaints.add(place, message, hint);
  const environment = readEnvironment(options.env, collectors, complaints);

  const launched = resolveTree(listLaunchLeaves(), { flags, environment, file: noFile }, complaints);
  const launch = toSettings(launchOptions, launched);
  const configFile = launch.config.file;
  const named = { place: launched.get('config.file')?.place?.text ?? '', readFile, complaints };
  // The parser is loaded only for a file, because loading it takes a large part of the start.
  const read =
    configFile === undefined
      ? noFile
      : await (await import('./read/file-values.ts')).readFileValues(
          configFile,
          toFileTree(collectors, families),
          named,
        );
  const file = options.ignoresServers === true ? withoutServers(read) : read;

  const sources: Sources = { flags, environment, file };
  const general = settleExclusions(resolveTree(listGeneralLeaves(), sources, complaints), complaints);
  checkBackfill(general, complaints);
  checkDatabase(general, complaints);
  const polled = collectors.map((declared) => {
    const collector = { ...declared, on: declared.on && !launch.collector.disableDefaults };
    return { name: collector.name, ...resolveCollector(collector, sources, options, complaints) };
  });
  const ruled = families.map((family) => ({ name: family.name, ...resolveFamily(family, sources, complaints) }));
  const watched = await readServers({ sources, file, readFile, validateTls, takenLabels, complaints });
  const web = general.get('web.config_file');
  const about = { place: web?.place?.text ?? '', readFile, validateTls, complaints };
  const webConfig =
    typeof web?.value === 'string'
      ? await (await import('./read/web-config.ts')).readWebConfig(web.value, about)
      : undefined;

  const found = complaints.list();
  if (found.length > 0) return { ok: false, complaints: found };
  const { jobs, metrics, ...settings } = toSettings(generalOptions, general);
  const all = watched.map((server) => server.settings);
  const servers = all.filter(({ name }) => launch.shard === undefined || isInShard(name, launch.shard));
  const config: Config = {
    ...settings,
    jobs: { ...jobs, isWanted: toChoice(jobs), ...toOverrideChoice(jobs.overrides) },
    metrics: {
      ...metrics,
      families: new Map(
        ruled.flatMap((one) => (one.settings === undefined ? [] : [[one.name, one.settings] as const])),
      ),
    },
    servers,
    collectors: Object.fromEntries(polled.map((one) => [one.name, one.settings])),
    webConfig,
  };
  const trees = [general, ...[...polled, ...ruled, ...watched].map(({ resolved }) => resolved)];
  const given = trees.flatMap((tree) => [...(tree?.values() ?? [])]);
  const shadowed = given.flatMap(({ place, shadowed: other }) =>
    other === undefined ? [] : [`${other.text} has no effect, because ${place?.text} is set`],
  );
  const [origins, otherServers] = [toOrigins(given), all.length - servers.length];
  return { ok: true, config, configFile, checkOnly: launch.config.check, otherServers, shadowed, origins };
}

const noLabels: TakenLabels = { ofServers: [], ofProjects: [] };
const noFile: FileValues = { values: new Map(), servers: [], faulty: new Set(), complete: true };

function withoutServers({ values, ...file }: FileValues): FileValues {
  const others = [...values].filter(([path]) => !path.startsWith('servers['));
  return { ...file, values: new Map(others), servers: [] };
}

function toOrigins(given: readonly Resolved[]): ReadonlyMap<string, string> {
  return new Map(
    given.flatMap(({ leaf: { path = '' }, place }) => (place === undefined ? [] : [[path, place.text] as const])),
  );
}
