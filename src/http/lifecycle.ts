import type { Request, Response } from 'express';

/** What lets a request change anything. */
export type Lifecycle = {
  /** Whether configuration lets requests do this at all. */
  readonly isEnabled: () => boolean;
  readonly externalUrl: () => string;
};

type Words = {
  /** What is done, as one would ask for it. */
  readonly verb: string;
  /** What else a person can do where it is off. */
  readonly otherwise?: string;
};

/** Whether a request that changes something may go on; one that may not has been told why. */
export function letsIn(
  { isEnabled, externalUrl }: Lifecycle,
  { request, response }: { readonly request: Request; readonly response: Response },
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
  if (isCrossSite(request, externalUrl())) return refuse(403, 'Refused: a page of another site asked for this.');
  if (!isEnabled()) return refuse(403, `Off: switch it on with --web.enable-lifecycle${otherwise}.`);
  return true;
}

/** Browsers say where a request comes from; tools that say nothing are meant to be let in. */
function isCrossSite({ headers }: Request, externalUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  const ours = [`http://${host}`, `https://${host}`, new URL(externalUrl).origin];
  return !ours.includes(origin.toLowerCase());
}
