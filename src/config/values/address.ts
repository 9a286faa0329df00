import { isIPv6 } from 'node:net';
import type { Parsed } from './duration.ts';
import { parsedText, type ValueType } from './value-type.ts';

/** The address to listen on; without a host, every address of the machine. */
export type ListenAddress = { readonly host: string | undefined; readonly port: number };

/** `:9720`, `127.0.0.1:9720` or `[::1]:9720`. */
export const listenAddress: ValueType<ListenAddress, 'plain'> = parsedText(parseListenAddress, {
  takes: 'an address',
  examples: [':9720', '127.0.0.1:9720'],
  placeholder: 'ADDRESS',
  format: formatListenAddress,
});

export const webAddress: ValueType<string, 'plain'> = toWebAddress({
  example: 'https://automation.example.org',
  withoutUser: 'secrets come from files or the environment',
});

/** The address of a proxy that needs no password. */
export const proxyAddress: ValueType<string, 'plain'> = toWebAddress({
  example: 'http://forward.example.org:3128',
  withoutUser: 'write the address without them',
});

export function formatListenAddress({ host, port }: ListenAddress): string {
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

function toWebAddress(about: { example: string; withoutUser: string }): ValueType<string, 'plain'> {
  return parsedText((text) => parseWebAddress(text, about.withoutUser), {
    takes: 'a web address',
    examples: [about.example],
    placeholder: 'URL',
    pattern: '^[hH][tT][tT][pP][sS]?://[^@?#]+$',
    format: (value) => value,
  });
}

// Messages never repeat the address: it may contain a password in an unexpected place.
function parseWebAddress(text: string, withoutUser: string): Parsed<string> {
  if (!/^https?:\/\/[^\s/]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(text))
    return { problem: 'is not a web address' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return { problem: 'holds a user or a password', hint: withoutUser };
  }
  if (/[?#]/.test(text))
    return { problem: 'holds a query or a fragment', hint: 'write the address without what follows ? or #' };
  return { value: url.href.replace(/\/+$/, '') };
}

export function toOwnAddress(
  { listenAddress, routePrefix }: { listenAddress: ListenAddress; routePrefix: string },
  { port = listenAddress.port, isTls = false }: { port?: number; isTls?: boolean } = {},
): string {
  // Addresses of all interfaces cannot be opened.
  const isAnywhere = listenAddress.host === undefined || /^(0\.0\.0\.0|::)$/.test(listenAddress.host);
  const address = formatListenAddress({ host: isAnywhere ? 'localhost' : listenAddress.host, port });
  return `http${isTls ? 's' : ''}://${address}${routePrefix === '/' ? '' : routePrefix}`;
}
