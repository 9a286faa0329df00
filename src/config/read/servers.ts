import type { Complaints, Place } from '../../domain/complaint.ts';
import { type ReadFile, readSecretFile, type Secret, SecretError, toEnvironmentSecret } from '../../domain/secret.ts';
import type { ServerConfig } from '../config.ts';
import { type Leaf, listServerLeaves, toSecretVariable } from '../declare/catalogue.ts';
import type { Settings } from '../declare/option.ts';
import { serverOptions } from '../declare/server-options.ts';
import { toChoice, toLabelChoice } from '../patterns/pattern.ts';
import { toExampleHint } from '../values/value-type.ts';
import type { Part } from './collectors.ts';
import type { FileValues } from './file-values.ts';
import { listServerVariables, type Resolved, resolveLeaf, type Sources, toSettings } from './resolve.ts';
import { checkLabels, checkServer, type TakenLabels, type TlsRules } from './server-rules.ts';

type About = {
  sources: Sources;
  file: FileValues;
  readFile: ReadFile;
  validateTls: TlsRules['validateTls'];
  takenLabels: TakenLabels;
  complaints: Complaints;
};

/** Reads the servers of the file and their secrets. The environment can define or override a single server. */
export async function readServers(about: About): Promise<readonly Part<ServerConfig>[]> {
  const { file, complaints } = about;
  const variables = listServerVariables().filter((name) => about.sources.environment.has(name));
  const single = file.servers.length <= 1;
  if (!single) {
    const message = `configures a single server, but the file has ${file.servers.length}`;
    for (const name of variables) complaints.add(name, message, 'set it for each server in the file');
  }
  const [variable] = variables;
  const alone = variable === undefined ? [] : [{ text: variable }];
  const places: readonly Place[] = file.servers.length > 0 || !file.complete ? file.servers : alone;
  const sources: Sources = single ? about.sources : { ...about.sources, environment: new Map() };

  const read = places.map(async (place, index) => {
    const path = `servers[${index}]`;
    const options = new Map<string, Resolved>();
    for (const leaf of listServerLeaves(path)) {
      const isSecret = leaf.option.type.kind === 'secret';
      const value = isSecret ? await resolveSecret(leaf, sources, about) : resolveLeaf(leaf, sources, complaints);
      const isFaulty = value.isFaulty || file.faulty.has(path);
      options.set(leaf.key, { ...value, isFaulty });
      const hints = [toExampleHint(leaf.option.type.examples), ...(single ? [`or set ${leaf.environment}`] : [])];
      if (leaf.option.required && value.origin === 'default' && !isFaulty)
        complaints.add(place, `${leaf.key} is missing`, hints.join(', '));
    }
    const tlsTexts = await checkServer({ place, single, options }, about, complaints);
    const settings = { ...toServer(toSettings(serverOptions, options)), tlsTexts };
    checkLabels(settings, { taken: about.takenLabels, options }, complaints);
    return { settings, resolved: options };
  });
  const servers = await Promise.all(read);
  complainSame(servers, places, complaints);
  return servers;
}

function toServer({ projects, namespace, ...server }: Settings<typeof serverOptions>): Omit<ServerConfig, 'tlsTexts'> {
  return {
    ...server,
    // The type of a URL excludes everything that a namespace must not contain.
    namespace: namespace ?? server.url,
    projects: { ...projects, isWanted: toChoice(projects), labelsOf: toLabelChoice(projects.labels) },
  };
}

// Resolves a secret. The variables with the secret and with the path of its file are equally strong: setting both is an error.
async function resolveSecret(leaf: Leaf, sources: Sources, { readFile, complaints }: About): Promise<Resolved> {
  const named = resolveLeaf(leaf, sources, complaints);
  const variable = toSecretVariable(leaf) ?? '';
  const value = sources.environment.get(variable);
  if (value === undefined && typeof named.value !== 'string') return named;
  const from: Resolved = value === undefined ? named : { ...named, origin: 'environment', place: { text: variable } };
  if (value !== undefined && sources.environment.has(leaf.environment ?? ''))
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

/** Complains about servers with the same name or namespace, because they would share series, executions or trace ids. */
function complainSame(servers: readonly Part<ServerConfig>[], places: readonly Place[], complaints: Complaints): void {
  const placeOf = (index: number, key: string): Place =>
    servers[index]?.resolved.get(key)?.place ?? places[index] ?? { text: '' };
  for (const key of ['name', 'url', 'namespace'] as const) {
    const seen = new Map<string, number>();
    for (const [index, { settings }] of servers.entries()) {
      const { [key]: value, url } = settings;
      // An invalid value is undefined here; a complaint about the value exists already.
      if (value === undefined) continue;
      const first = seen.get(value);
      seen.set(value, index);
      // If the URLs are equal, they have a complaint of their own. The namespace is the URL by default.
      if (first === undefined || (key === 'namespace' && servers[first]?.settings.url === url)) continue;
      const what = key === 'name' ? `"${value}"` : `the ${key} ${value}`;
      complaints.add(placeOf(index, key), `${what} is used by two servers`, `the other is ${placeOf(first, key).text}`);
    }
  }
}
