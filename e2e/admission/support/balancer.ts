/** What stands in front of replicas: connections go to them in turn, past those that do not answer. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Balancer extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made to each of the ports. */
  readonly accepted: ReadonlyMap<number, number>;
  /** How many of them are open, on whichever side. */
  open(port: number): number;
  /** No new connections go there from now on, as with pods that are told to end; or they do again. */
  spare(port: number, isSpared: boolean): void;
}

export async function tcpBalancer(ports: readonly number[]): Promise<Balancer> {
  const accepted = new Map(ports.map((port) => [port, 0]));
  const open = new Map<Socket, number>();
  const spared = new Set<number>();
  let turn = 0;
  // When a replica is gone, those who call are told so, and the connection is open until they have understood.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    open.set(near, 0);
    near.on('error', () => {});
    near.on('close', () => open.delete(near));
    const candidates = ports.filter((port) => !spared.has(port));
    const first = turn++;
    const attempt = (count: number): void => {
      const port = candidates[(first + count) % candidates.length];
      if (port === undefined || count === candidates.length) {
        near.destroy();
        return;
      }
      const far = connect({ host: '127.0.0.1', port });
      let isConnected = false;
      far.on('connect', () => {
        isConnected = true;
        open.set(near, port);
        accepted.set(port, (accepted.get(port) ?? 0) + 1);
        near.pipe(far).pipe(near);
        near.on('close', () => far.destroy());
      });
      far.on('error', () => isConnected || attempt(count + 1));
      far.on('close', () => {
        if (!isConnected) return;
        near.end();
        near.resume();
      });
    };
    attempt(0);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    accepted,
    open: (port) => [...open.values()].filter((each) => each === port).length,
    spare: (port, isSpared) => void (isSpared ? spared.add(port) : spared.delete(port)),
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open.keys()) socket.destroy();
      await once(server, 'close');
    },
  };
}
