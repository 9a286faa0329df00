import { formatRights, toAccessPolicy, toAdminRight } from '../../api/access-policy.ts';
import { createLargeAnswers } from '../../api/answers/large-answers.ts';
import type { Api } from '../../api/client.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { systemInfo } from '../../api/endpoints/system.ts';
import { ApiError } from '../../api/errors.ts';
import type { CollectorRight } from '../../api/rights.ts';
import { isAuthenticatedAnswer, toVerdict } from '../../api/verdict.ts';
import type { ServerConfig } from '../../config/config.ts';
import { connectServer, openTransport } from '../../daemon/connect.ts';
import { systemClock } from '../../domain/system-clock.ts';

/** One line of the report, for a request or for requests by project. */
export type Probe = {
  readonly name: string;
  readonly reads: readonly Endpoint<unknown>[];
  readonly ask: (api: Api) => Promise<Finding>;
};

/** A finding; undefined if there is no problem. `fault` is an error; `verdict` names a problem without an error. */
export type Finding =
  | { readonly fault?: ApiError; readonly note?: string; readonly verdict?: UntoldVerdict; readonly sizes?: Sizes }
  | undefined;

/** How many things are visible, for `check --report`. Jobs are counted only in the first projects. */
type Sizes = { readonly projects: number; readonly readProjects: number; readonly jobs: number };

/** The verdict of a request that had no error but a problem, or that was not sent. */
type UntoldVerdict = 'left out' | 'hidden' | 'nothing visible' | 'too old' | 'not asked';

type Verdict = 'ok' | 'denied' | 'disabled' | 'broken' | UntoldVerdict;
const verdictsThatFail: readonly Verdict[] = ['denied', 'broken', 'hidden', 'nothing visible'];

type EndpointReport = {
  readonly endpoint: string;
  readonly verdict: Verdict;
  readonly message?: string;
  /** The line of an access policy that permits the request. */
  readonly mendedBy?: string;
  /** The right of an administrator that permits the request. The right should not be granted for a metric. */
  readonly needs?: string;
};
export type ServerReport = {
  readonly server: string;
  readonly member?: string;
  readonly url: string;
  readonly reachable: boolean;
  readonly credentials: 'accepted' | 'refused' | 'unknown';
  readonly dialect: string | undefined;
  readonly apiVersion: number | undefined;
  readonly release: string | undefined;
  readonly endpoints: readonly EndpointReport[];
  readonly sizes?: Sizes;
  /** The change of the configuration, if one change solves all problems. */
  readonly remedy?: string;
  /** The access policy that permits the denied or hidden requests. */
  readonly missingPolicy?: string;
  /** The rights of the token as reported by the server; absent before 5.9. */
  readonly rights?: readonly CollectorRight[];
  readonly excess?: readonly string[];
  /** The minimal access policy. Set if the token has more rights. */
  readonly leastPolicy?: string;
};

/** Sends one request at a time, because a check must not load the server. */
export async function probeServer(
  { name, url }: { name: string; url: string },
  api: Api,
  probes: readonly Probe[],
): Promise<ServerReport> {
  const reports: EndpointReport[] = [];
  const lacking: Endpoint<unknown>[] = [];
  let reachable = false;
  let credentials: ServerReport['credentials'] = 'unknown';
  let remedy: string | undefined;
  let sizes: Sizes | undefined;
  for (const probe of probes) {
    const finding = await find(api, probe);
    const report = toReport(probe, finding);
    reports.push(report);
    if (report.mendedBy !== undefined) lacking.push(...probe.reads);
    if (report.verdict === 'nothing visible') lacking.push(...probes.flatMap(({ reads }) => reads));
    const fault = finding?.fault;
    sizes ??= finding?.sizes;
    reachable ||= fault === undefined || fault.details.status !== undefined;
    if (fault?.kind === 'unauthorized') credentials = 'refused';
    else if (fault === undefined || isAuthenticatedAnswer(fault)) credentials = 'accepted';
    remedy = findRemedy(fault);
    // No more requests are sent, because they would fail in the same way.
    const isForeign = isElsewhere(fault) || (credentials === 'unknown' && reports.length >= maxForeign);
    if (!reachable || credentials === 'refused' || isForeign || remedy !== undefined) break;
  }
  const allowable = lacking.filter((read) => toAdminRight(read) === undefined);
  const missingPolicy =
    allowable.length === 0 ? {} : { missingPolicy: toAccessPolicy(allowable, api.server().dialect) };
  // The reported mode is left out, because it may be old.
  const facts = { ...api.server(), mode: undefined, memberStarts: undefined };
  // The version is only assumed before the API has responded.
  const apiVersion = credentials === 'unknown' ? undefined : facts.apiVersion;
  const told = { server: name, url, reachable, credentials, ...facts, apiVersion, endpoints: reports };
  return {
    ...told,
    ...(sizes === undefined ? {} : { sizes }),
    ...(remedy === undefined ? {} : { remedy }),
    ...missingPolicy,
  };
}

/** One endpoint alone may fail. If several endpoints fail, the server or a proxy has probably failed. */
const maxForeign = 3;

function findRemedy(fault: ApiError | undefined): string | undefined {
  const { apiEndpoint, status, serverApiVersion } = fault?.details ?? {};
  if (status === undefined || apiEndpoint === 'login') return undefined;
  if (fault?.kind === 'unsupported_version') {
    const newest = serverApiVersion === undefined ? '' : `; its newest is ${serverApiVersion}`;
    return `the server refuses the API version${newest}: set \`api_version: auto\``;
  }
  const isPage = fault?.kind === 'unauthorized' && status !== 401 && status !== 403;
  return isPage ? fault.message.replace(/^[^,]*, /, '') : undefined;
}

/** Reports whether another program responds instead of the API. */
function isElsewhere(fault: ApiError | undefined): boolean {
  return (
    fault?.kind === 'not_found' && fault.details.isOfService !== true && fault.details.apiEndpoint === systemInfo.name
  );
}

/** Reports whether everything that is enabled works, or was disabled on the server. */
export function isFine({ credentials, endpoints }: ServerReport): boolean {
  // Endpoints that only administrators can read are reported, but are no error.
  const isOptional = ({ verdict, needs }: EndpointReport): boolean => verdict === 'denied' && needs !== undefined;
  return (
    credentials === 'accepted' &&
    endpoints.every((endpoint) => isOptional(endpoint) || !verdictsThatFail.includes(endpoint.verdict))
  );
}

/** Sends the same request for several projects. Returns the first error. */
export async function findInProjects(
  projects: readonly string[],
  of: number,
  ask: (project: string) => Promise<unknown>,
): Promise<Finding> {
  const faults: ApiError[] = [];
  const faulty: string[] = [];
  const denied: string[] = [];
  const off: string[] = [];
  for (const project of projects) {
    const fault = await toFault(() => ask(project));
    if (fault === undefined) continue;
    // The list contains disabled projects, but requests for them return 404.
    const isOff = fault.kind === 'not_found' && fault.details.isOfService === true;
    if (isOff) off.push(project);
    else (fault.kind === 'forbidden' ? denied : faulty).push(project);
    if (!isOff) faults.push(fault);
  }
  const tried = projects.length === of ? `${of}` : `${projects.length} of ${of}`;
  const note = [
    `${tried} ${of === 1 ? 'project' : 'projects'} tried`,
    ...(off.length === 0 ? [] : [`switched off: ${off.join(', ')}`]),
    ...(denied.length === 0 ? [] : [`denied: ${denied.join(', ')}`]),
    ...(faulty.length === 0 ? [] : [`problems with ${faulty.join(', ')}`]),
  ].join('; ');
  const [fault] = faults;
  return fault === undefined ? { note } : { fault, note };
}

const words = { denied: 'denied', not_found: 'disabled', version: 'too old', failed: 'broken' } as const;

function toReport({ name, reads }: Probe, finding: Finding): EndpointReport {
  const { fault, note, verdict: untold } = finding ?? {};
  if (fault === undefined) {
    const isLacking = untold === 'hidden' || untold === 'nothing visible';
    const mend = isLacking && reads[0] !== undefined ? toMend(reads[0]) : {};
    return { endpoint: name, verdict: untold ?? 'ok', ...(note === undefined ? {} : { message: note }), ...mend };
  }
  const verdict = words[toVerdict(fault, reads)];
  const refused = reads.find((endpoint) => endpoint.name === fault.details.apiEndpoint);
  const message = note === undefined ? fault.message : `${note}; ${fault.message}`;
  const isMended = verdict === 'denied' && fault.details.isOfService === true && refused !== undefined;
  return { endpoint: name, verdict, message, ...(isMended ? toMend(refused) : {}) };
}

function toMend(endpoint: Endpoint<unknown>): Pick<EndpointReport, 'mendedBy' | 'needs'> {
  const right = toAdminRight(endpoint);
  return right === undefined ? { mendedBy: formatRights(endpoint.allowedBy) } : { needs: right };
}

async function find(api: Api, { ask }: Probe): Promise<Finding> {
  let finding: Finding;
  const fault = await toFault(async () => {
    finding = await ask(api);
  });
  return fault === undefined ? finding : { fault };
}

async function toFault(ask: () => Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await ask();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Sends requests over a connection that is closed afterwards. */
export async function askOnce<Answer>(server: ServerConfig, ask: (api: Api) => Promise<Answer>): Promise<Answer> {
  const observe = { request: ignore, error: ignore, waited: ignore, inFlight: ignore, circuit: ignore };
  const largeAnswers = createLargeAnswers({ clock: systemClock });
  const connection = connectServer(server, { clock: systemClock, observe, onSecret: ignore, largeAnswers });
  try {
    // The first contact times out earlier, so that its error is reported: this error has the reason.
    return await ask(connection.client.within({ lane: 'vital', forMs: 2 * server.timeoutMs }));
  } finally {
    await connection.close();
  }
}

/** Reports whether a server responds to a path outside its API without credentials. */
export async function isOpenToAll(server: ServerConfig, path: string): Promise<boolean> {
  const transport = openTransport(server, { clock: systemClock });
  try {
    const { status, headers } = await transport.get({ apiEndpoint: path, path, headers: {} });
    return status === 200 && !/^text\/html/i.test(headers['content-type'] ?? '');
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  } finally {
    await transport.close();
  }
}

function ignore(): void {}
