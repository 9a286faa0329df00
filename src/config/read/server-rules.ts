import { type Complaints, type Place, toInnerPlace } from '../../domain/complaint.ts';
import { describePath, describeReadError } from '../../domain/read-error.ts';
import { type ReadFile, Secret } from '../../domain/secret.ts';
import type { ServerConfig, TlsTexts } from '../config.ts';
import { serverOptions } from '../declare/options.ts';
import type { ResolvedTree } from './resolve.ts';

export type ResolvedServer = {
  readonly place: Place;
  /** True if the environment may define it. */
  readonly single: boolean;
  readonly options: ResolvedTree;
};

type PlainTexts = { readonly [part in keyof TlsTexts]: string };

export type TlsRules = {
  readonly readFile: ReadFile;
  /** Explains what makes such files unusable; each text ends a sentence. */
  readonly validateTls?:
    | ((texts: PlainTexts, nameOfCert?: string) => readonly { readonly part: keyof TlsTexts; readonly says: string }[])
    | undefined;
};

/**
 * Complains about options of a server that contradict or need each other, and about unusable files; reads the files of
 * `tls`.
 */
export async function checkServer(server: ResolvedServer, rules: TlsRules, complaints: Complaints): Promise<TlsTexts> {
  checkAuthentication(server, complaints);
  checkAddress(server, complaints);
  checkPair(server, ['tls.cert_file', 'tls.key_file'], complaints);
  checkTlsIsUsed(server, complaints);
  const texts: { ca?: string; cert?: string; key?: string } = {};
  for (const part of tlsParts) {
    const text = await readFileOf(server, { key: `tls.${part}_file`, readFile: rules.readFile }, complaints);
    if (text !== undefined) texts[part] = text;
  }
  for (const { part, says } of rules.validateTls?.(texts) ?? []) {
    const { value, place } = server.options.get(`tls.${part}_file`) ?? {};
    complaints.add(place ?? server.place, `${describePath(String(value))} ${says}`);
  }
  const { key, ...certificates } = texts;
  return { ...certificates, ...(key === undefined ? {} : { key: new Secret(key, { file: 'tls.key_file' }) }) };
}

const waysToAuthenticate = [['token_file'], ['username', 'password_file'], ['bearer_token_file']] as const;
const tlsParts = ['ca', 'cert', 'key'] as const;

function checkAuthentication(server: ResolvedServer, complaints: Complaints): void {
  const toPlace = (key: string) => server.options.get(key)?.place;
  const [first, ...others] = waysToAuthenticate
    .map((way) => way.map(toPlace).find((place) => place !== undefined))
    .filter((place) => place !== undefined);
  for (const other of others)
    complaints.add(other, 'is a second authentication method', `leave it out, or ${first?.text}`);
  if (others.length === 0) checkPair(server, ['username', 'password_file'], complaints);
  if (waysToAuthenticate.flat().some((key) => isGiven(server, key))) return;
  complaints.add(server.place, 'has no authentication method', adviseWays(server));
}

// A server from the environment gets its secret there; one from the file may get it from either.
function adviseWays(server: ResolvedServer): string {
  const inFile = server.place.offset !== undefined;
  const toName = (key: string) => (inFile ? key : toVariable(server, key));
  const ways = waysToAuthenticate.map((way) => way.map(toName).join(' with '));
  const variable = inFile && server.single ? `; or set ${toVariable(server, 'token_file')}` : '';
  return `${inFile ? 'give' : 'set'} one of ${ways.join(', ')}${variable}`;
}

/** The path of the API is appended to the address. */
function checkAddress({ options }: ResolvedServer, complaints: Complaints): void {
  const { value, place } = options.get('url') ?? {};
  if (typeof value !== 'string' || place === undefined) return;
  const end = /\/api(\/\d+)?$/.exec(value)?.[0];
  if (end !== undefined) complaints.add(place, `ends with ${end}, which is added to it`, `leave ${end} out`);
}

function checkPair(server: ResolvedServer, [one, other]: readonly [string, string], complaints: Complaints): void {
  for (const [given, lacking] of [
    [one, other],
    [other, one],
  ] as const) {
    const place = server.options.get(given)?.place;
    if (place === undefined || isGiven(server, lacking)) continue;
    const variable = toVariable(server, lacking);
    const inFile = place.offset !== undefined;
    const hint = inFile && server.single ? `or set ${variable}` : undefined;
    complaints.add(place, `needs ${inFile ? lacking : variable} beside it`, hint);
  }
}

function checkTlsIsUsed(server: ResolvedServer, complaints: Complaints): void {
  const url = server.options.get('url')?.value;
  if (typeof url !== 'string' || !url.startsWith('http:')) return;
  for (const key of Object.keys(serverOptions.tls)) {
    const option = server.options.get(`tls.${key}`);
    if (option?.place === undefined || option.value === undefined || option.value === false) continue;
    complaints.add(
      option.place,
      'requires https, but the url begins with http',
      'write https in the url, or remove tls',
    );
  }
}

async function readFileOf(
  server: ResolvedServer,
  { key, readFile }: { key: string; readFile: ReadFile },
  complaints: Complaints,
): Promise<string | undefined> {
  const { value, place } = server.options.get(key) ?? {};
  if (typeof value !== 'string' || place === undefined) return undefined;
  try {
    return await readFile(value);
  } catch (error) {
    complaints.add(place, `${describePath(value)} ${describeReadError(error)}`);
    return undefined;
  }
}

function isGiven({ options }: ResolvedServer, key: string): boolean {
  const option = options.get(key);
  return option?.place !== undefined || option?.isFaulty === true;
}

function toVariable({ options }: ResolvedServer, key: string): string {
  return options.get(key)?.leaf.environment ?? key;
}

/** Labels that configuration cannot add, because series or their targets already have them. */
export type TakenLabels = { readonly ofServers: readonly string[]; readonly ofProjects: readonly string[] };

/** Complains about labels that one series would have twice. */
export function checkLabels(
  { labels, projects }: ServerConfig,
  { taken, options }: { taken: TakenLabels; options: ResolvedTree },
  complaints: Complaints,
): void {
  const place = options.get('labels')?.place;
  // A wrong value is undefined here, and already has its complaint.
  const own = (labels ?? []).map(([name]) => name);
  if (place !== undefined) complainTaken(own, { taken: taken.ofServers, place, path: [] }, complaints);
  const projectPlace = options.get('projects.labels')?.place;
  if (projectPlace === undefined) return;
  for (const [index, entry] of (projects.labels ?? []).entries()) {
    const names = entry.labels.map(([name]) => name);
    const at = { place: projectPlace, path: [index, 'labels'] };
    complainTaken(names, { ...at, taken: taken.ofProjects }, complaints);
    for (const name of names.filter((one) => own.includes(one) && !taken.ofProjects.includes(one))) {
      const inner = toInnerPlace(projectPlace, [...at.path, name], true);
      complaints.add(inner, 'is a label of the server already', 'choose another name');
    }
  }
}

function complainTaken(
  names: readonly string[],
  about: { taken: readonly string[]; place: Place; path: readonly PropertyKey[] },
  complaints: Complaints,
): void {
  for (const name of names) {
    if (!about.taken.includes(name)) continue;
    const inner = toInnerPlace(about.place, [...about.path, name], true);
    complaints.add(inner, 'is a label that series have already', 'choose another name');
  }
}
