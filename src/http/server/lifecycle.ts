import type { Request, Response } from 'express';
import { isSafeHost } from './hosts.ts';

/** The conditions under which a request may change something. */
export type Lifecycle = {
  readonly isEnabled: () => boolean;
  readonly externalUrl: () => string;
  /** Called for every permitted request with its path and the address of the client. */
  readonly onAsked?: (asked: Asked) => void;
};

export type Asked = { readonly path: string; readonly from: string | undefined };

type Words = {
  readonly verb: string;
  /** What a person can do instead while requests that change something are off. */
  readonly otherwise?: string;
};

/** Reports whether a request may change something. Refused requests get a response. */
export function letsIn(
  { isEnabled, externalUrl, onAsked }: Lifecycle,
  { request, response }: { request: Request; response: Response },
  { verb, otherwise = '' }: Words,
): boolean {
  const refuse = (status: number, text: string): false => {
    response.type('text/plain').set('cache-control', 'no-store').status(status).send(`${text}\n`);
    return false;
  };
  if (request.method !== 'POST') {
    response.set('allow', 'POST');
    return refuse(405, `${verb} with POST.`);
  }
  if (isCrossSite(request, externalUrl()))
    return refuse(
      403,
      'Refused: the request comes from a page of another site. If that site is this exporter, set web.external_url to its address.',
    );
  if (!isEnabled()) return refuse(403, `Off: enable it with --web.enable-lifecycle${otherwise}.`);
  onAsked?.({ path: request.path, from: request.socket.remoteAddress });
  return true;
}

/** Reports whether a page of another site sent the request. Browsers send the origin; tools send none and are admitted. */
function isCrossSite({ headers }: Request, externalUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  const asked = origin.toLowerCase();
  if (asked === new URL(externalUrl).origin) return false;
  return !isSafeHost(host) || (asked !== `http://${host}` && asked !== `https://${host}`);
}
