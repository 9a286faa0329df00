import { Router } from 'express';

/**
 * Creates routes that match paths exactly. Express would otherwise serve `/CONFIG` and `/config/` as `/config`, so a proxy that
 * restricts `/config` would not protect it.
 */
export function createRoutes(): Router {
  return Router({ caseSensitive: true, strict: true });
}
