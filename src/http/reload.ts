import { type Request, type Response, Router } from 'express';

/** What a reload came to, in sentences for whoever asked for it. */
export type Reloaded =
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly complaints: readonly string[] };

export type ReloadOptions = {
  /** Whether configuration lets requests do this at all. */
  readonly isEnabled: () => boolean;
  /** Undefined where nothing can be read again. */
  readonly reload: (() => Promise<Reloaded>) | undefined;
  readonly externalUrl: () => string;
};

/** `POST /-/reload`: reads the configuration again, for nobody but who was meant to. */
export function reloadRoute({ isEnabled, reload, externalUrl }: ReloadOptions): Router {
  const router = Router();
  router.all('/-/reload', async (request, response) => {
    response.type('text/plain').set('cache-control', 'no-store');
    if (request.method !== 'POST') {
      response.set('allow', 'POST').status(405).send('Reload with POST.\n');
    } else if (isCrossSite(request, externalUrl())) {
      response.status(403).send('Refused: a page of another site asked for this.\n');
    } else if (!isEnabled()) {
      response.status(403).send('Off: switch it on with --web.enable-lifecycle, or send the process a SIGHUP.\n');
    } else if (reload === undefined) {
      response.status(403).send('Off: there is no configuration to read again.\n');
    } else {
      sendOutcome(response, await reload());
    }
  });
  return router;
}

function sendOutcome(response: Response, outcome: Reloaded): void {
  if (outcome.ok) response.send(['reloaded', ...outcome.warnings, ''].join('\n'));
  else
    response
      .status(500)
      .send(['not reloaded, the configuration before goes on:', ...outcome.complaints, ''].join('\n'));
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
