import { isIPv6 } from 'node:net';
import { type Parsed, parsedText, type ValueType } from './value-type.ts';

/** An address to listen on. Without a host, the address stands for all addresses of the machine. */
type ListenAddress = { readonly host: string | undefined; readonly port: number };

/** The forms are `:9720`, `127.0.0.1:9720` and `[::1]:9720`. */
export const listenAddress = parsedText(parseListenAddress, {
  takes: 'an address',
  examples: [':9720', '127.0.0.1:9720'],
  placeholder: 'ADDRESS',
  format: formatListenAddress,
});

export const webAddress = toWebAddress('https://automation.example.org', 'secrets come from files or the environment');

/** The URL of a proxy that needs no password. */
export const proxyAddress = toWebAddress(
  'http://forward.example.org:3128',
  'write the address without user and password',
);

function formatListenAddress({ host, port }: ListenAddress): string {
  if (host === undefined) return `:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseListenAddress(text: string): Parsed<ListenAddress> {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))?:(\d{1,5})$/.exec(text);
  if (/^\d{1,5}$/.test(text)) return { problem: 'is a port without a colon', hint: `write :${text}` };
  if (match === null) return { problem: 'is not an address to listen on' };
  const [, six, name, digits] = match;
  if (six !== undefined && !isIPv6(six))
    return { problem: 'is not an address to listen on', hint: 'for example [::1]:9720' };
  const port = Number(digits);
  if (port > 65_535) return { problem: 'has no such port', hint: 'ports range from 0 to 65535' };
  return { value: { host: six ?? name, port } };
}

function toWebAddress(example: string, withoutUser: string): ValueType<string, 'plain'> {
  return parsedText((text) => parseWebAddress(text, withoutUser), {
    takes: 'a web address',
    examples: [example],
    placeholder: 'URL',
    json: { pattern: '^[hH][tT][tT][pP][sS]?://[^@?#]+$' },
  });
}

// Messages never contain the URL, because it may contain a password in an unexpected place.
function parseWebAddress(text: string, withoutUser: string): Parsed<string> {
  if (!/^https?:\/\/[^\s/]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(text))
    return { problem: 'is not a web address' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return { problem: 'contains a user or a password', hint: withoutUser };
  }
  if (/[?#]/.test(text)) return { problem: 'contains a query or a fragment', hint: 'remove the part after ? or #' };
  // Repeated slashes are removed, because servers of release 6 refuse paths with an empty segment.
  url.pathname = url.pathname.replace(/\/{2,}/g, '/');
  // A quote would end a text in the served rules.
  return { value: url.href.replace(/\/$/, '').replaceAll("'", '%27') };
}

const place = '{trace_id}';

/** The URL of a trace in the UI of the backend, with a placeholder for the trace id. */
export const traceLink = parsedText(parseTraceLink, {
  takes: 'a web address with {trace_id} in it',
  examples: [`https://traces.example.org/trace/${place}`],
  placeholder: 'URL',
  json: { pattern: '^[hH][tT][tT][pP][sS]?://\\S*\\{trace_id\\}\\S*$' },
});

// Messages never contain the URL, because it may contain a password.
function parseTraceLink(text: string): Parsed<string> {
  const filled = text.replaceAll(place, '0'.repeat(32));
  if (!/^https?:\/\/[^\s/\\]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(filled)) {
    return { problem: 'is not a web address' };
  }
  if (!text.includes(place)) return { problem: `has no ${place}` };
  const { username, password } = new URL(filled);
  if (username !== '' || password !== '') {
    return { problem: 'contains a user or a password', hint: 'everyone who sees the page would see the password' };
  }
  return { value: text };
}

export function toOwnAddress(
  { listenAddress, routePrefix }: { listenAddress: ListenAddress; routePrefix: string },
  { port = listenAddress.port, isTls = false }: { port?: number; isTls?: boolean } = {},
): string {
  // Browsers cannot open the address of all interfaces.
  const isAnywhere = listenAddress.host === undefined || /^(0\.0\.0\.0|::)$/.test(listenAddress.host);
  const address = formatListenAddress({ host: isAnywhere ? 'localhost' : listenAddress.host, port });
  return `http${isTls ? 's' : ''}://${address}${routePrefix === '/' ? '' : routePrefix}`;
}
