import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';

/**
 * Refuses requests by their `Host`. Several `Host` headers are refused, because a proxy may have checked a different
 * one. Browsers are refused at names that anybody can register: such a name may first lead to a foreign page, then to
 * this exporter (DNS rebinding).
 */
export function checkHost(externalUrl: () => string): RequestHandler {
  return (request, response, next) => {
    const [host, ...others] = request.headersDistinct['host'] ?? [];
    const isGood = !isBrowser(request) || isSafeHost(host) || isHostOf(externalUrl(), host);
    if (others.length === 0 && isGood) {
      next();
      return;
    }
    response.set('cache-control', 'no-store');
    if (others.length > 0) response.status(400).type('text/plain').send('Bad request: several Host headers.\n');
    else
      response
        .status(403)
        .type('text/html')
        .send(renderRefusal(toAskedUrl(request, externalUrl())));
  };
}

/** Shows the configuration that admits browsers. The page has no links, because other pages would be refused too. */
function renderRefusal(url = 'http://exporter.example.org:9720'): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Unknown host: set web.external_url</title>
</head>
<body>
<h1>Unknown host</h1>
<p>This automation-exporter serves browsers at its IP addresses, at local names, and at the address in <code>web.external_url</code>. The address that you opened is none of these.</p>
<p>If it is an address of the exporter, add it to the configuration file and reload:</p>
<pre>web:
  external_url: ${url}
</pre>
<p>Or start the exporter with this flag:</p>
<pre>--web.external-url=${url}
</pre>
<p>Behind a proxy, write the address that the browser shows.</p>
</body>
</html>
`;
}

/**
 * Reports whether a browser sent the request. Browsers always send their languages; scrapers and tools send none.
 * Unlike browsers, Node's `fetch` sends `sec-fetch-mode` without `sec-fetch-site`.
 */
function isBrowser({ headers }: Request): boolean {
  const isNode = headers['sec-fetch-mode'] !== undefined && headers['sec-fetch-site'] === undefined;
  return headers['accept-language'] !== undefined && !isNode;
}

/** Reports whether a host is an IP address, or a name that nobody can register. Any other name must be configured. */
export function isSafeHost(host = ''): boolean {
  const [, name = ''] = /^(.*?)(?::\d+)?$/.exec(host) ?? [];
  if (isIP(name.replace(/^\[|\]$/g, '')) > 0) return true;
  return /^[a-z0-9-]+(?:(?:\.[a-z0-9-]+)*\.(?:localhost|local|internal|test|home\.arpa|svc))?$/i.test(name);
}

function isHostOf(url: string, host = ''): boolean {
  const own = URL.parse(url)?.host;
  return own !== undefined && own === URL.parse(`${new URL(url).protocol}//${host}`)?.host;
}

/** Returns the requested URL with the exporter's own path; undefined if the Host header is invalid. */
export function toAskedUrl(
  { protocol, headers }: Pick<Request, 'protocol' | 'headers'>,
  ownUrl: string,
): string | undefined {
  const { host } = headers;
  if (host === undefined || !/^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host)) return undefined;
  return `${protocol}://${host}${new URL(ownUrl).pathname}`;
}

export type Urls = {
  /** Returns the configured URL of this exporter. Without a configured URL, the URL of the request is used. */
  readonly externalUrl: () => string | undefined;
  /** Returns the URL at which the exporter listens. The URL is used if a request has no valid Host. */
  readonly ownUrl: () => string;
};

/** Returns the URL of this exporter for links, without a final slash. */
export function toLinkUrl(request: Request, { externalUrl, ownUrl }: Urls): string {
  return (externalUrl() ?? toAskedUrl(request, ownUrl()) ?? ownUrl()).replace(/\/$/, '');
}
