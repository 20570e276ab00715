/** The life of a server: certificates, the open listener, the announcements, the end. */
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Clock, WebhookClientConfig, WebhookServer } from '@kopf-ts/core';
import { childController, describeError, isCancellation, onAbort, stackOf, untilAborted } from '@kopf-ts/core/engine';
import { requestListener } from './http/admission-requests.js';
import { bodyBudget, defaultBodyBudget } from './http/body-budget.js';
import { type Listener, openListener } from './http/listener.js';
import type { CertificateOptions, ListeningOptions, VerificationOptions } from './server-options.js';
import { bracketed } from './server-urls.js';
import { type Material, type MaterialSource, readVerification } from './tls-materials.js';

/** What servers are given to work with. */
export type ServerSurroundings = Parameters<WebhookServer['serve']>[0];

export interface ServingPlan {
  readonly options: ListeningOptions & VerificationOptions & Pick<CertificateOptions, 'cadump'>;
  /** Where requests are accepted. Slashes at its end do not matter. */
  readonly path: string;
  readonly materials: MaterialSource;
  /** How the API server can reach us, except for the authorities. */
  readonly announce: (port: number) => WebhookClientConfig;
}

/** An API server takes objects of up to 3 MiB, and a review has two of them: as it was, and as it is going to be. */
const BODY_LIMIT = 7 * 1024 * 1024;
const REQUEST_TIMEOUT = 30;
const MAX_CONNECTIONS = 1000;

/** Serves until aborted; yields the first address, and then each one that differs from the previous. */
export async function* serveReviews(
  at: ServerSurroundings,
  plan: ServingPlan,
): AsyncGenerator<WebhookClientConfig, void, void> {
  if (at.signal.aborted) return;
  const { clock, logger, client } = at;
  // Not only when aborted, but also when nobody wants to know our address any more.
  const life = childController(at.signal);
  let listener: Listener | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> | undefined => {
    closing ??= listener?.close();
    return closing;
  };
  // At once: the consumer of the addresses may be busy with the last one.
  const forget = onAbort(life.signal, () => void close());
  try {
    let announced: string | undefined;
    for await (const material of plan.materials({ signal: life.signal, clock: realTime(clock), logger, client })) {
      if (life.signal.aborted) break;
      if (listener === undefined) {
        listener = await open(at, plan, material);
        if (life.signal.aborted) break;
      } else if (!renewed(listener, material, at)) {
        continue;
      }
      const until = at.certified && expiryOf(material);
      if (until !== undefined) at.certified?.(until);
      const config = { ...plan.announce(listener.port), ...bundleOf(material) };
      const text = JSON.stringify(config);
      if (text === announced) continue;
      announced = text;
      await dump(plan.options.cadump, material);
      yield config;
    }
    await untilAborted(life.signal);
  } catch (error) {
    if (!isCancellation(error, at.signal)) throw error;
  } finally {
    forget();
    life.abort();
    await close();
  }
}

/** Callers check certificates by the real time, whatever a clock of tests says: so they are made by it, too. */
function realTime(clock: Clock): Clock {
  return { now: () => clock.now(), sleep: (delay, options) => clock.sleep(delay, options), utc: () => new Date() };
}

async function open(at: ServerSurroundings, plan: ServingPlan, material: Material): Promise<Listener> {
  const { options } = plan;
  const { addr, port = 0, bodyLimit = BODY_LIMIT, requestTimeout = REQUEST_TIMEOUT } = options;
  const { maxConnections = MAX_CONNECTIONS } = options;
  const budget = bodyBudget(options.bodyBudget ?? defaultBodyBudget(bodyLimit));
  const { review, logger, clock, refused } = at;
  const path = plan.path.replace(/\/+$/, '');
  const verification = await readVerification(options);
  const hasPeers = material.credentials !== undefined && verification.mode !== 'none';
  const onRequest = requestListener({ review, logger, path, bodyLimit, budget, hasPeers, refused });
  const { credentials } = material;
  const listener = await openListener({
    addr,
    port,
    credentials,
    verification,
    requestTimeout,
    maxConnections,
    clock,
    logger,
    onRequest,
    refused,
  });
  const scheme = credentials === undefined ? 'http' : 'https';
  logger.info(`Listening for admission requests at ${scheme}://${bracketed(addr ?? '*')}:${listener.port}${plan.path}`);
  return listener;
}

/** When the certificate expires; `undefined` if it is not to be seen, as in ready contexts. */
function expiryOf({ credentials }: Material): Date | undefined {
  if (credentials === undefined || 'ready' in credentials || credentials.cert === undefined) return undefined;
  const [first] = [credentials.cert].flat();
  try {
    return first === undefined ? undefined : new Date(new X509Certificate(first).validTo);
  } catch {
    return undefined;
  }
}

/** Unusable certificates are no reason to stop serving: the old ones may live for long. */
function renewed(listener: Listener, { credentials }: Material, { logger }: ServerSurroundings): boolean {
  try {
    if (credentials !== undefined) listener.renew(credentials);
    return true;
  } catch (error) {
    const why = describeError(error);
    logger.error(`The new certificates cannot be used, so the previous ones stay in use: ${why}`, stackOf(error));
    return false;
  }
}

function bundleOf({ authorities }: Material): Pick<WebhookClientConfig, 'caBundle'> {
  return authorities === undefined ? {} : { caBundle: Buffer.from(authorities, 'utf8').toString('base64') };
}

async function dump(path: string | undefined, { authorities }: Material): Promise<void> {
  if (path !== undefined && authorities !== undefined) await writeFile(path, authorities);
}
