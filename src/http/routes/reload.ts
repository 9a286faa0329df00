import type { Response, Router } from 'express';
import { type Lifecycle, letsIn } from '../server/lifecycle.ts';
import { createRoutes } from '../server/routes.ts';

/** The result of a reload, in sentences for the person who asked for it. */
export type Reloaded =
  | { readonly ok: true; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly complaints: readonly string[] };

export type ReloadOptions = Lifecycle & {
  /** Undefined where nothing can be read again. */
  readonly reload: (() => Promise<Reloaded>) | undefined;
};

/** `POST /-/reload`: reads the configuration again, for permitted callers only. */
export function reloadRoute({ reload, ...lifecycle }: ReloadOptions): Router {
  const router = createRoutes();
  router.all('/-/reload', async (request, response) => {
    const words = { verb: 'Reload', otherwise: ', or send the process a SIGHUP' };
    if (!letsIn(lifecycle, { request, response }, words)) return;
    response.type('text/plain').set('cache-control', 'no-store');
    if (reload === undefined) response.status(403).send('Off: there is no configuration to reload.\n');
    else sendOutcome(response, await reload());
  });
  return router;
}

function sendOutcome(response: Response, outcome: Reloaded): void {
  if (outcome.ok) response.send(['reloaded', ...outcome.warnings, ''].join('\n'));
  else
    response
      .status(500)
      .send(['not reloaded, the previous configuration stays in force:', ...outcome.complaints, ''].join('\n'));
}
