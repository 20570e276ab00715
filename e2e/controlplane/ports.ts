import { createServer, type Server } from 'node:net';

/**
 * Loopback ports that are free now, all different.
 *
 * Nothing reserves them until the programs listen, so whoever uses them has to be ready to try again.
 */
export async function freePorts(count: number): Promise<number[]> {
  // All are open at the same time: otherwise the system may give the same one twice.
  const servers = await Promise.all(Array.from({ length: count }, listening));
  const ports = servers.map(portOf);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}

function listening(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}
