import type { Router } from 'express';
import { createRoutes } from '../server/routes.ts';

/** `/config`: the configuration in force, secrets masked; plain text, which a browser shows and a shell can keep. */
export function configRoute(toYaml: () => Promise<string>): Router {
  const router = createRoutes();
  router.get('/config', async (_request, response) => {
    const text = await toYaml();
    response.set('cache-control', 'no-store').type('text/plain').send(text);
  });
  return router;
}
