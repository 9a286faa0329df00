import { type AddressInfo, createServer, type Server } from 'node:net';

/** Listens on the loopback interface, at this port or at a free one; returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  // This cast is safe: a TCP server has such an address.
  return (server.address() as AddressInfo).port;
}

/** Returns a port that was free a moment ago, for programs that cannot report which port they use. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
