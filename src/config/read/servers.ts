import type { Complaints, Place } from '../../domain/complaint.ts';
import { type ReadFile, readSecretFile, type Secret, SecretError, toEnvironmentSecret } from '../../domain/secret.ts';
import type { ServerConfig } from '../config.ts';
import { type Leaf, listServerLeaves, toSecretVariable } from '../declare/catalogue.ts';
import type { Settings } from '../declare/option.ts';
import { serverOptions } from '../declare/options.ts';
import { toSettings } from '../declare/settings.ts';
import { toChoice, toLabelChoice } from '../patterns/pattern.ts';
import { listServerVariables } from './environment.ts';
import type { FileValues } from './file-values.ts';
import { checkLabels, type TakenLabels } from './label-rules.ts';
import { complainMissing, type Resolved, resolveLeaf, type Sources } from './resolve.ts';
import { checkServer, type ResolvedOption, type TlsRules } from './server-rules.ts';

type About = {
  sources: Sources;
  file: FileValues;
  readFile: ReadFile;
  validateTls: TlsRules['validateTls'];
  takenLabels: TakenLabels;
  complaints: Complaints;
};

type Servers = { servers: readonly ServerConfig[]; resolved: ReadonlyMap<string, Resolved> };

/** Reads the servers of the file and their secrets; the environment defines the only server, or overrides it. */
export async function readServers(about: About): Promise<Servers> {
  const { file, complaints } = about;
  const variables = listServerVariables().filter((name) => about.sources.environment.has(name));
  const single = file.servers.length <= 1;
  if (!single) {
    for (const name of variables) {
      complaints.add(
        name,
        `configures a single server, but the file has ${file.servers.length}`,
        'set it for each server in the file',
      );
    }
  }
  const [variable] = variables;
  const alone = variable === undefined ? [] : [{ text: variable }];
  const places: readonly Place[] = file.servers.length > 0 || !file.complete ? file.servers : alone;
  const sources: Sources = single ? about.sources : { ...about.sources, environment: new Map() };

  const resolved = new Map<string, Resolved>();
  const read = places.map(async (place, index) => {
    const path = `servers[${index}]`;
    const options = new Map<string, ResolvedOption>();
    for (const leaf of listServerLeaves(path)) {
      const value =
        leaf.option.type.kind === 'secret'
          ? await resolveSecret(leaf, { ...about, sources })
          : resolveLeaf(leaf, sources, complaints);
      const leafPath = leaf.path ?? '';
      const faulty = file.faulty.has(path) || file.faulty.has(leafPath);
      resolved.set(leafPath, value);
      options.set(leafPath.slice(path.length + 1), { ...value, leaf, faulty });
      if (leaf.option.required && value.origin === 'default' && !faulty)
        complainMissing(leaf, { place, single }, complaints);
    }
    const tlsTexts = await checkServer({ place, single, options }, about, complaints);
    const server = { ...toServer(toSettings(serverOptions, (key) => options.get(key)?.value)), tlsTexts };
    const placeOf = (key: string) => options.get(key)?.place;
    checkLabels(server, { taken: about.takenLabels, placeOf }, complaints);
    return server;
  });
  const servers = await Promise.all(read);
  complainSame(servers, { places, resolved, complaints });
  return { servers, resolved };
}

function toServer({ projects, namespace, ...server }: Settings<typeof serverOptions>): Omit<ServerConfig, 'tlsTexts'> {
  return {
    ...server,
    // The type of an address already excludes everything that a namespace must not contain.
    namespace: namespace ?? server.url,
    projects: { ...projects, isWanted: toChoice(projects), labelsOf: toLabelChoice(projects.labels) },
  };
}

// A variable with a secret is as strong as the variable with the path of its file, so both together contradict each
// other.
async function resolveSecret(leaf: Leaf, { sources, readFile, complaints }: About): Promise<Resolved> {
  const named = resolveLeaf(leaf, sources, complaints);
  const variable = toSecretVariable(leaf) ?? '';
  const value = sources.environment.get(variable);
  if (value === undefined && typeof named.value !== 'string') return named;
  const from = value === undefined ? named : ({ origin: 'environment', place: { text: variable } } as const);
  if (value !== undefined && sources.environment.has(leaf.environment))
    complaints.add(variable, `excludes ${leaf.environment}`, 'remove one of them');
  const form = leaf.option.type.travels;
  try {
    const secret: Secret =
      value === undefined
        ? await readSecretFile(String(named.value), readFile, form)
        : toEnvironmentSecret(value, variable, form);
    return { ...from, value: secret };
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    complaints.add(from.place ?? '', error.message);
    return { ...from, value: undefined };
  }
}

/** Complains about servers that could not be distinguished: they would share series, executions or trace ids. */
function complainSame(
  servers: readonly ServerConfig[],
  about: { places: readonly Place[]; resolved: ReadonlyMap<string, Resolved>; complaints: Complaints },
): void {
  const placeOf = (index: number, key: string): Place =>
    about.resolved.get(`servers[${index}].${key}`)?.place ?? about.places[index] ?? { text: '' };
  for (const key of ['name', 'url', 'namespace'] as const) {
    const seen = new Map<string, number>();
    for (const [index, { [key]: value, url }] of servers.entries()) {
      // A wrong value is undefined here, and already has its complaint.
      if (value === undefined) continue;
      const first = seen.get(value);
      seen.set(value, index);
      // The default namespace is the address, which has its own complaint.
      if (first === undefined || (key === 'namespace' && servers[first]?.url === url)) continue;
      const what = key === 'name' ? `"${value}"` : `the ${key} ${value}`;
      about.complaints.add(
        placeOf(index, key),
        `${what} is used by two servers`,
        `the other is ${placeOf(first, key).text}`,
      );
    }
  }
}
