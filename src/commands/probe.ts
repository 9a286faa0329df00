import { toAdminRight } from '../api/access-policy.ts';
import type { Api } from '../api/client.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { ApiError } from '../api/errors.ts';
import { isAuthenticatedAnswer, toVerdict } from '../api/verdict.ts';

/** What asking an endpoint once says about it. */
export type Verdict = 'ok' | 'denied' | 'too old' | 'disabled' | 'broken';
export type EndpointReport = {
  readonly endpoint: string;
  readonly verdict: Verdict;
  readonly message?: string;
  /** The line of an access policy that mends a denial. */
  readonly mendedBy?: string;
  /** The right that mends it where that is an administrator's, which nobody should hand out for a number. */
  readonly needs?: string;
};
export type ServerReport = {
  readonly server: string;
  readonly url: string;
  readonly reachable: boolean;
  readonly credentials: 'accepted' | 'refused' | 'unknown';
  readonly dialect: string | undefined;
  readonly apiVersion: number | undefined;
  readonly release: string | undefined;
  readonly endpoints: readonly EndpointReport[];
};

/** Asks each endpoint once, one after the other: a check must be no load. */
export async function probeServer(
  { name, url }: { readonly name: string; readonly url: string },
  api: Api,
  endpoints: readonly Endpoint<unknown>[],
): Promise<ServerReport> {
  const reports: EndpointReport[] = [];
  let reachable = false;
  let credentials: ServerReport['credentials'] = 'unknown';
  for (const endpoint of endpoints) {
    const fault = await ask(api, endpoint);
    reports.push(toReport(endpoint, fault));
    reachable ||= fault === undefined || fault.details.status !== undefined;
    if (fault?.kind === 'unauthorized') credentials = 'refused';
    else if (fault === undefined || isAuthenticatedAnswer(fault)) credentials = 'accepted';
    // The others could but say the same.
    if (!reachable || credentials === 'refused') break;
  }
  return { server: name, url, reachable, credentials, ...api.server(), endpoints: reports };
}

/** Everything that is switched on works, or is switched off by the server itself. */
export function isFine({ credentials, endpoints }: ServerReport): boolean {
  return credentials === 'accepted' && endpoints.every(({ verdict }) => verdict !== 'denied' && verdict !== 'broken');
}

const words = { denied: 'denied', not_found: 'disabled', version: 'too old', failed: 'broken' } as const;

function toReport(endpoint: Endpoint<unknown>, fault: ApiError | undefined): EndpointReport {
  if (fault === undefined) return { endpoint: endpoint.name, verdict: 'ok' };
  const verdict = words[toVerdict(fault, [endpoint])];
  const isMended = verdict === 'denied' && fault.details.isOfService === true;
  const right = toAdminRight(endpoint);
  const mend = right === undefined ? { mendedBy: endpoint.allowedBy } : { needs: right };
  return {
    endpoint: endpoint.name,
    verdict,
    message: fault.message,
    ...(isMended ? mend : {}),
  };
}

async function ask(api: Api, endpoint: Endpoint<unknown>): Promise<ApiError | undefined> {
  try {
    await api.get(endpoint);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
