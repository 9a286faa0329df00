import type { FixedConfig } from '../config.ts';
import { formatListenAddress } from '../values/address.ts';

/** Returns the daemon's address on this machine, without a slash at the end; the system may have chosen the port. */
export function toOwnAddress(
  { listenAddress, routePrefix }: Pick<FixedConfig['web'], 'listenAddress' | 'routePrefix'>,
  { port = listenAddress.port, isTls = false }: { readonly port?: number; readonly isTls?: boolean } = {},
): string {
  // Addresses that stand for every interface cannot be opened.
  const isAnywhere = listenAddress.host === undefined || /^(0\.0\.0\.0|::)$/.test(listenAddress.host);
  const address = formatListenAddress({ host: isAnywhere ? 'localhost' : listenAddress.host, port });
  return `http${isTls ? 's' : ''}://${address}${routePrefix === '/' ? '' : routePrefix}`;
}
