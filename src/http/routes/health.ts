import type { Router } from 'express';
import { createRoutes } from '../server/routes.ts';

/** `/-/healthy`: the process answers. `/-/ready`: the vital polls of every server were tried once. */
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
