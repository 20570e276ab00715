import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { makeCertificates } from '../../controlplane/certificates.js';

/** How a webhook answers: it knows the request's uid and adds it by itself. */
export interface Hook {
  /** The `response` of the review; by default, everything is allowed. */
  readonly response?: Readonly<Record<string, unknown>>;
  /** As base64 into `response.patch`. */
  readonly patch?: unknown;
  /** Seconds before it answers. */
  readonly delay?: number;
  /** Instead of a review. */
  readonly http?: { readonly status: number; readonly body: string; readonly type?: string };
  /** By default, that of the request. */
  readonly uid?: string;
  /** By default, that of the request. */
  readonly apiVersion?: string;
}

/** A server over TLS with all the webhooks of all the sequences: addresses are `/<run>/<hook>`. */
export interface WebhookServer extends AsyncDisposable {
  readonly url: string;
  /** The authority's certificate in base64, as registrations have it. */
  readonly caBundle: string;
  /** Registers the webhooks of one run of one sequence. */
  register(run: string, hooks: Readonly<Record<string, Hook>>): RunHooks;
}

export interface RunHooks {
  /** What a webhook was asked since this was last called. */
  take(name: string): unknown[];
}

export async function startWebhooks(): Promise<WebhookServer> {
  const { ca, server: pair } = await makeCertificates();
  const runs = new Map<string, { hooks: Readonly<Record<string, Hook>>; asked: Map<string, unknown[]> }>();
  const server = createServer({ key: pair.key, cert: pair.cert }, (request, response) => {
    const answer = async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const { pathname, search } = new URL(request.url ?? '/', 'https://localhost');
      const [, run = '', name = ''] = pathname.split('/');
      const hook = runs.get(run)?.hooks[name];
      if (hook === undefined) {
        response.writeHead(404).end();
        return;
      }
      const review = JSON.parse(text) as { apiVersion: string; kind: string; request: { uid: string } };
      const asked = runs.get(run)?.asked;
      asked?.set(name, [...(asked.get(name) ?? []), { query: search, review }]);
      if (hook.delay !== undefined) await pause(hook.delay * 1000);
      if (hook.http !== undefined) {
        response.writeHead(hook.http.status, { 'content-type': hook.http.type ?? 'application/json' });
        response.end(hook.http.body);
        return;
      }
      const patch =
        hook.patch === undefined
          ? {}
          : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(hook.patch)).toString('base64') };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          apiVersion: hook.apiVersion ?? review.apiVersion,
          kind: review.kind,
          response: { uid: hook.uid ?? review.request.uid, allowed: true, ...patch, ...hook.response },
        }),
      );
    };
    answer().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(ca.cert).toString('base64'),
    register(run, hooks) {
      const asked = new Map<string, unknown[]>();
      runs.set(run, { hooks, asked });
      return {
        take(name) {
          const taken = asked.get(name) ?? [];
          asked.delete(name);
          return taken;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
