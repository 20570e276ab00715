/**
 * What the API server needs of a kubelet to answer for logs and commands, and nothing else: TLS, the paths of a kubelet, and
 * the WebSockets of commands in the fourth version of their protocol.
 */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface KubeletRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly upgrade: string | undefined;
}

export interface FakeKubelet extends AsyncDisposable {
  readonly port: number;
  /** All that it was asked for. */
  readonly requests: readonly KubeletRequest[];
}

export interface FakeContainers {
  /** Pieces of a log, as they come. */
  log(request: KubeletRequest): AsyncIterable<string>;
  exec(request: KubeletRequest): { readonly stdout: string; readonly stderr: string; readonly exitCode: number };
}

export async function startFakeKubelet(
  identity: { readonly cert: string; readonly key: string },
  containers: FakeContainers,
): Promise<FakeKubelet> {
  const requests: KubeletRequest[] = [];
  const noted = (url: string, upgrade: string | undefined): KubeletRequest => {
    const { pathname, searchParams } = new URL(url, 'https://kubelet');
    const request = { path: pathname, query: searchParams, upgrade };
    requests.push(request);
    return request;
  };
  const server: Server = createServer(identity, (request, response) => {
    const noticed = noted(request.url ?? '', undefined);
    if (!noticed.path.startsWith('/containerLogs/')) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain' });
    void (async () => {
      for await (const piece of containers.log(noticed)) response.write(piece);
      response.end();
    })();
  });
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('v4.channel.k8s.io') ? 'v4.channel.k8s.io' : false),
  });
  server.on('upgrade', (request, socket, head) => {
    const noticed = noted(request.url ?? '', request.headers.upgrade);
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => answer(client, containers.exec(noticed)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async [Symbol.asyncDispose]() {
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(client: WebSocket, { stdout, stderr, exitCode }: ReturnType<FakeContainers['exec']>): void {
  const say = (channel: number, text: string): void =>
    client.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]), { binary: true });
  if (stdout !== '') say(1, stdout);
  if (stderr !== '') say(2, stderr);
  const causes = [{ reason: 'ExitCode', message: String(exitCode) }];
  const failed = { status: 'Failure', reason: 'NonZeroExitCode', message: 'it has failed', details: { causes } };
  say(3, JSON.stringify({ metadata: {}, ...(exitCode === 0 ? { status: 'Success' } : failed) }));
  client.close(1000);
}
