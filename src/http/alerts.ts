import { Router } from 'express';
import type { Content } from './content.ts';

/** What the shipped rules write for the daemon's own address. */
const placeholderUrl = 'http://localhost:9720';

/** The alert rules, their links pointing to this daemon. */
export function alertRoutes({ rules }: Content, externalUrl: () => string): Router {
  const router = Router();
  router.get('/alerts/rules.yaml', (_request, response) => {
    response.type('text/yaml').send(rules.replaceAll(placeholderUrl, externalUrl()));
  });
  return router;
}
