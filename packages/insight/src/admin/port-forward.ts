/** A connection to a port of a pod, through the API server: nobody needs to expose the port for it. */
import { Duplex } from 'node:stream';
import { KopfError, type KubeClient, type KubeConnection } from '@kopf-ts/core';

/**
 * Which port of which pod.
 *
 * ```ts
 * const place: kopf.insight.PodPort = { namespace: 'operators', pod: 'my-operator-0', port: 8083 };
 * ```
 */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

const PROTOCOLS = ['v4.channel.k8s.io'];
const [DATA, ERRORS] = [0, 1];

/**
 * Opens a connection to the port, with the rights to `pods/portforward` of the client.
 *
 * ```ts
 * const connect = () => kopf.insight.portForward(client, { namespace: 'operators', pod: 'my-operator-0', port: 8083 });
 * const way: kopf.insight.WayToAdmin = { url: 'http://127.0.0.1:8083', connect };
 * ```
 */
export async function portForward(client: KubeClient, { namespace, pod, port }: PodPort): Promise<Duplex> {
  if (client.connect === undefined) {
    throw new KopfError('This client cannot forward ports: it has no connect().', { code: 'KOPF_NO_PORT_FORWARD' });
  }
  const [place, name] = [encodeURIComponent(namespace), encodeURIComponent(pod)];
  const path = `/api/v1/namespaces/${place}/pods/${name}/portforward?ports=${port}`;
  const connection = await client.connect({ path, protocols: PROTOCOLS });
  return duplexOf(connection, `the port ${port} of the pod ${namespace}/${pod}`);
}

/** Each message begins with the number of its channel; the first one of each channel is the number of the port. */
function duplexOf(connection: KubeConnection, title: string): Duplex {
  const stream = new Duplex({
    read() {},
    write(piece: Buffer, _encoding, done) {
      connection.send(Buffer.concat([Buffer.from([DATA]), piece])).then(() => done(), done);
    },
    final(done) {
      // The other side answers until it closes by itself.
      done();
    },
    destroy(error, done) {
      connection.close();
      done(error);
    },
  });
  // It may break before anybody uses it: then it is known by its state.
  stream.on('error', () => {});
  const pump = async (): Promise<void> => {
    const begun = new Set<number>();
    for await (const message of connection) {
      const [channel = DATA] = message;
      const content = Buffer.from(message.subarray(1));
      if (!begun.has(channel)) {
        begun.add(channel);
        continue;
      }
      if (channel === ERRORS && content.length > 0)
        throw new Error(`${title} cannot be reached: ${content.toString()}`);
      if (channel === DATA) stream.push(content);
    }
    stream.push(null);
  };
  pump().catch((error: unknown) => stream.destroy(error as Error));
  return stream;
}
