import { Router } from 'express';

/** Creates routes that match paths exactly. Otherwise, a proxy that restricts `/config` would not protect `/CONFIG`. */
export function createRoutes(): Router {
  return Router({ caseSensitive: true, strict: true });
}
