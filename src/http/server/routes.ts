import { Router } from 'express';

/**
 * Creates routes that match paths exactly. Express takes `/CONFIG` and `/config/` for `/config`, so that a proxy in front of
 * us that restricts `/config` would not protect it.
 */
export function createRoutes(): Router {
  return Router({ caseSensitive: true, strict: true });
}
