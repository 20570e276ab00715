import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpRelay extends AsyncDisposable {
  readonly url: string;
  /** How many connections were made so far. */
  readonly accepted: number;
  /** How many of them are open on the side of the client. */
  readonly open: number;
  /** From now on, nothing goes through the open connections, though both sides see them open; new ones work. */
  loseConnections(): void;
}

interface Connection {
  readonly near: Socket;
  readonly far: Socket;
  isLost: boolean;
}

/** A piece of network between a client and a server: it forwards bytes, until it forgets some of its connections. */
export async function tcpRelay(target: string): Promise<TcpRelay> {
  const { hostname, port } = new URL(target);
  const connections = new Set<Connection>();
  let [accepted, open] = [0, 0];
  const server = createServer((near) => {
    accepted += 1;
    open += 1;
    const far = connect({ host: hostname, port: Number(port) });
    const connection: Connection = { near, far, isLost: false };
    connections.add(connection);
    near.once('close', () => {
      open -= 1;
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(to);
      from.on('error', () => {});
      from.on('close', () => {
        // The news of the leaving do not come through either.
        if (!connection.isLost) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get accepted() {
      return accepted;
    },
    get open() {
      return open;
    },
    loseConnections() {
      for (const connection of connections) {
        const { near, far } = connection;
        connection.isLost = true;
        near.unpipe(far);
        far.unpipe(near);
        // What comes is taken and thrown away, so that the senders do not notice either.
        near.resume();
        far.resume();
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const { near, far } of connections) {
        near.destroy();
        far.destroy();
      }
      await closed;
    },
  };
}
