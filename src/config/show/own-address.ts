import type { FixedConfig } from '../config.ts';
import { formatListenAddress } from '../values/address.ts';

/** Where the daemon answers on this machine, without a slash at the end; the port may be one that the system chose. */
export function toOwnAddress({ listenAddress, routePrefix }: FixedConfig['web'], port = listenAddress.port): string {
  // Addresses that stand for every interface are no address to open.
  const isAnywhere = listenAddress.host === undefined || /^(0\.0\.0\.0|::)$/.test(listenAddress.host);
  const address = formatListenAddress({ host: isAnywhere ? 'localhost' : listenAddress.host, port });
  return `http://${address}${routePrefix === '/' ? '' : routePrefix}`;
}
