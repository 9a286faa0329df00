import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';

/**
 * Refuses requests that must not be answered because of their `Host`. One with several of these headers is refused: a
 * proxy may have judged another of them. So is a browser's request for a name that anyone could have registered: that
 * name may lead to a page of someone else now and to us a minute later, and that page would read our answers.
 */
export function checkHost(externalUrl: () => string): RequestHandler {
  return (request, response, next) => {
    const refuse = (status: number, text: string): void => {
      response.status(status).type('text/plain').set('cache-control', 'no-store').send(`${text}\n`);
    };
    const [host, ...others] = request.headersDistinct['host'] ?? [];
    if (others.length > 0) refuse(400, 'Bad request: several Host headers.');
    else if (!isBrowser(request) || isSafeHost(host) || isHostOf(externalUrl(), host)) next();
    else
      refuse(
        403,
        'Refused: the Host header names an unknown host. If it is a name of this exporter, set web.external_url to this address.',
      );
  };
}

/**
 * Browsers always say which languages they speak, and no page can keep them from it; scrapers and tools do not. The `fetch`
 * of Node does too, but it sends a mode without a site: browsers send both or none, and no page can change that.
 */
function isBrowser({ headers }: Request): boolean {
  const isNode = headers['sec-fetch-mode'] !== undefined && headers['sec-fetch-site'] === undefined;
  return headers['accept-language'] !== undefined && !isNode;
}

/** Reports whether a host is an address, or a name that cannot be registered. Any other has to be configured. */
export function isSafeHost(host = ''): boolean {
  const [, name = ''] = /^(.*?)(?::\d+)?$/.exec(host) ?? [];
  if (isIP(name.replace(/^\[|\]$/g, '')) > 0) return true;
  return /^[a-z0-9-]+(?:(?:\.[a-z0-9-]+)*\.(?:localhost|local|internal|test|home\.arpa|svc))?$/i.test(name);
}

function isHostOf(url: string, host = ''): boolean {
  const own = URL.parse(url)?.host;
  return own !== undefined && own === URL.parse(`${new URL(url).protocol}//${host}`)?.host;
}
