import type { Response, Router } from 'express';
import type { ReloadOutcome } from '../../domain/complaint.ts';
import { type Lifecycle, letsIn } from '../server/lifecycle.ts';
import { createRoutes } from '../server/routes.ts';

/** `/-/healthy`: the process responds. `/-/ready` succeeds once every vital poll has run. */
export function healthRoutes(waitingFor: () => readonly string[]): Router {
  const router = createRoutes();
  router.get('/-/healthy', (_request, response) => {
    response.type('text/plain').send('healthy\n');
  });
  router.get('/-/ready', (_request, response) => {
    const missing = waitingFor();
    response.type('text/plain');
    if (missing.length === 0) response.send('ready\n');
    else response.status(503).send(`waiting for the first poll of: ${missing.join(', ')}\n`);
  });
  return router;
}

type ReloadOptions = Lifecycle & { readonly reload: (() => Promise<ReloadOutcome>) | undefined };

/** `POST /-/reload`: reads the configuration again. The route is for permitted callers. */
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

function sendOutcome(response: Response, outcome: ReloadOutcome): void {
  if (outcome.ok) response.send(['reloaded', ...outcome.warnings, ''].join('\n'));
  else
    response
      .status(500)
      .send(['not reloaded, the previous configuration stays in force:', ...outcome.complaints, ''].join('\n'));
}
