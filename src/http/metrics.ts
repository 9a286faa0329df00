import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { Router } from 'express';

export type Scraped = { readonly contentType: string; readonly text: string };

const compress = promisify(gzip);

/** What Prometheus scrapes; reads memory, never the API. */
export function metricsRoute(path: string, scrape: (accept: string | undefined) => Promise<Scraped>): Router {
  const router = Router();
  router.get(path, async (request, response) => {
    const { contentType, text } = await scrape(request.headers.accept);
    response.set({ 'content-type': contentType, vary: 'Accept, Accept-Encoding', 'cache-control': 'no-store' });
    const wantsGzip = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (!wantsGzip) {
      response.end(text);
      return;
    }
    response.set('content-encoding', 'gzip');
    // Level 1: four times as fast as the default for a few per cent more bytes.
    response.end(await compress(text, { level: constants.Z_BEST_SPEED }));
  });
  return router;
}
