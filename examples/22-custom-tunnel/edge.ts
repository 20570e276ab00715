/** The other end of a tunnel, as it is in the tests: it takes the TLS off, and passes the rest on. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { createServer } from 'node:tls';
import { webhooks } from 'kopf-ts';
import type { Exposure } from './tunnel.js';

const certified = webhooks.buildCertificate(['127.0.0.1']);

export async function edge(port: number, signal: AbortSignal): Promise<Exposure> {
  const { certificate: cert, privateKey: key } = await certified;
  const passing = new Set<Promise<unknown>>();
  const server = createServer({ cert, key }, (incoming) => {
    const inner = connect(port, '127.0.0.1');
    // When one side ends, the other one does; whoever has something to say is let finish.
    const passed = Promise.allSettled([pipeline(incoming, inner), pipeline(inner, incoming)]);
    passing.add(passed);
    void passed.then(() => passing.delete(passed));
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: publicPort } = server.address() as AddressInfo;
  const closed = once(server, 'close');
  const stopListening = (): void => void server.close();
  signal.addEventListener('abort', stopListening, { once: true });
  if (signal.aborted) stopListening();
  return {
    url: `https://127.0.0.1:${publicPort}`,
    caBundle: Buffer.from(cert).toString('base64'),
    async close() {
      signal.removeEventListener('abort', stopListening);
      stopListening();
      await Promise.all(passing);
      // Those who have not come as far as to say anything.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
