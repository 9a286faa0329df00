import { type AddressInfo, createServer, type Server } from 'node:net';

/** Listens on loopback, at a given or a free port; returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  // This cast is safe: the address of a TCP server has a port.
  return (server.address() as AddressInfo).port;
}

/** Returns a free port, for programs that cannot report their port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
