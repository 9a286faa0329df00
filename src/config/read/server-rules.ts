import { type Complaints, type Place, toInnerPlace } from '../../domain/complaint.ts';
import { describePath, describeReadError } from '../../domain/read-error.ts';
import { type ReadFile, Secret } from '../../domain/secret.ts';
import type { ServerConfig, TlsTexts } from '../config.ts';
import { serverOptions } from '../declare/server-options.ts';
import { createComplain, type ResolvedTree } from './resolve.ts';

type ResolvedServer = {
  readonly place: Place;
  /** True if variables of the environment may define the server. */
  readonly single: boolean;
  readonly options: ResolvedTree;
};

type PlainTexts = { readonly [part in keyof TlsTexts]: string };

export type TlsRules = {
  readonly readFile: ReadFile;
  /** Explains what makes files of TLS unusable, as ends of sentences. */
  readonly validateTls?:
    | ((texts: PlainTexts, nameOfCert?: string) => readonly { readonly part: keyof TlsTexts; readonly says: string }[])
    | undefined;
};

/** Reports contradictory or missing options of a server, and unusable files. Reads the files of `tls`. */
export async function checkServer(server: ResolvedServer, rules: TlsRules, complaints: Complaints): Promise<TlsTexts> {
  checkAuthentication(server, complaints);
  checkAddress(server, complaints);
  checkPair(server, ['tls.cert_file', 'tls.key_file'], complaints);
  const texts: { ca?: string; cert?: string; key?: string } = {};
  for (const part of ['ca', 'cert', 'key'] as const) {
    const { value, place } = server.options.get(`tls.${part}_file`) ?? {};
    if (typeof value !== 'string' || place === undefined) continue;
    const text = await readFileAt(place, value, { ...rules, complaints });
    if (text !== undefined) texts[part] = text;
  }
  for (const { part, says } of rules.validateTls?.(texts) ?? []) {
    const { value, place } = server.options.get(`tls.${part}_file`) ?? {};
    complaints.add(place ?? server.place, `${describePath(String(value))} ${says}`);
  }
  const { key, ...certificates } = texts;
  return { ...certificates, ...(key === undefined ? {} : { key: new Secret(key, { file: 'tls.key_file' }) }) };
}

export async function readFileAt(
  place: Place,
  path: string,
  { readFile, complaints }: { readFile: ReadFile; complaints: Complaints },
): Promise<string | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    complaints.add(place, `${describePath(path)} ${describeReadError(error)}`);
    return undefined;
  }
}

const waysToAuthenticate = [['token_file'], ['username', 'password_file'], ['bearer_token_file']] as const;

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

// A server from the environment has its secret in the environment. A server of the file may have its secret in either place.
function adviseWays(server: ResolvedServer): string {
  const inFile = server.place.offset !== undefined;
  const toName = (key: string) => (inFile ? key : toVariable(server, key));
  const ways = waysToAuthenticate.map((way) => way.map(toName).join(' with '));
  const variable = inFile && server.single ? `; or set ${toVariable(server, 'token_file')}` : '';
  return `${inFile ? 'give' : 'set'} one of ${ways.join(', ')}${variable}`;
}

function checkAddress({ options }: ResolvedServer, complaints: Complaints): void {
  const complain = createComplain(options, complaints);
  const { value: url } = options.get('url') ?? {};
  if (typeof url !== 'string') return;
  // The address must not end with the path of the API, because the client appends the path.
  const end = /\/api(\/\d+)?$/.exec(url)?.[0];
  if (end !== undefined) complain('url', `ends with ${end}, which the exporter adds itself`, `leave ${end} out`);
  const used = Object.keys(serverOptions.tls).filter((key) => Boolean(options.get(`tls.${key}`)?.value));
  for (const key of url.startsWith('http:') ? used : [])
    complain(`tls.${key}`, 'requires https, but the url begins with http', 'write https in the url, or remove tls');
}

function checkPair(server: ResolvedServer, pair: readonly [string, string], complaints: Complaints): void {
  for (const [given, lacking] of [pair, pair.toReversed()]) {
    const place = server.options.get(given ?? '')?.place;
    if (place === undefined || lacking === undefined || isGiven(server, lacking)) continue;
    const variable = toVariable(server, lacking);
    const inFile = place.offset !== undefined;
    const hint = inFile && server.single ? `or set ${variable}` : undefined;
    complaints.add(place, `needs ${inFile ? lacking : variable} beside it`, hint);
  }
}

function isGiven({ options }: ResolvedServer, key: string): boolean {
  const option = options.get(key);
  return option?.place !== undefined || option?.isFaulty === true;
}

function toVariable({ options }: ResolvedServer, key: string): string {
  return options.get(key)?.leaf.environment ?? key;
}

/** Labels of series and targets, which the configuration cannot add. */
export type TakenLabels = { readonly ofServers: readonly string[]; readonly ofProjects: readonly string[] };

/** Complains about labels that a series would have twice. */
export function checkLabels(
  { labels, projects }: ServerConfig,
  { taken, options }: { taken: TakenLabels; options: ResolvedTree },
  complaints: Complaints,
): void {
  const complain = (key: string, path: readonly PropertyKey[], message: string): void => {
    const place = options.get(key)?.place;
    if (place !== undefined) complaints.add(toInnerPlace(place, path, true), message, 'choose another name');
  };
  const isTaken = 'is already a label of the series';
  // An invalid value is undefined here; a complaint about the value exists already.
  const own = (labels ?? []).map(([name]) => name);
  for (const name of own) if (taken.ofServers.includes(name)) complain('labels', [name], isTaken);
  for (const [index, entry] of (projects.labels ?? []).entries()) {
    for (const [name] of entry.labels) {
      const path = [index, 'labels', name];
      if (taken.ofProjects.includes(name)) complain('projects.labels', path, isTaken);
      else if (own.includes(name)) complain('projects.labels', path, 'is already a label of the server');
    }
  }
}
