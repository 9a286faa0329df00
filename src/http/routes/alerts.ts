import type { Router } from 'express';
import { type Content, linkTo } from '../server/content.ts';
import { createRoutes } from '../server/routes.ts';

/** The alert rules, their links pointing to this daemon. */
export function alertRoutes({ rules }: Content, externalUrl: () => string): Router {
  const router = createRoutes();
  router.get('/alerts/rules.yaml', (_request, response) => {
    response.type('text/yaml').send(linkTo(externalUrl(), rules));
  });
  return router;
}
