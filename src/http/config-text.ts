import { Router } from 'express';

/** `/config`: the configuration in force, secrets masked; plain text, which a browser shows and a shell can keep. */
export function configRoute(toYaml: () => string): Router {
  const router = Router();
  router.get('/config', (_request, response) => {
    response.set('cache-control', 'no-store').type('text/plain').send(toYaml());
  });
  return router;
}
