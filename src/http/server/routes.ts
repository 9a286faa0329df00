import { Router } from 'express';

/**
 * Routes for paths as they are written. Express takes `/CONFIG` and `/config/` for `/config`, so that a proxy in front of
 * us that keeps `/config` to a few would keep nobody from it.
 */
export function createRoutes(): Router {
  return Router({ caseSensitive: true, strict: true });
}
