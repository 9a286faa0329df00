import { Router } from 'express';

/**
 * Creates routes that match paths exactly. With inexact paths, a proxy that restricts `/config` would not protect `/CONFIG`.
 */
export function createRoutes(): Router {
  return Router({ caseSensitive: true, strict: true });
}
