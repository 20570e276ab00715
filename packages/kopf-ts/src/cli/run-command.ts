/** `kopf run`: an operator that owns its process, and gives up if there is no cluster at all. */
import type { RunChoice } from '@kopf-ts/cli';
import { KubeConnectionError, kubeClient, login, loginWithKubeconfig, reloadingCredentials } from '@kopf-ts/client';
import {
  type Clock,
  type ConnectionInfo,
  getDefaultRegistry,
  type Logger,
  LoginError,
  type Seconds,
  settings,
} from '@kopf-ts/core';
import { childController, describeError } from '@kopf-ts/core/engine';
import { openTelemetry } from '@kopf-ts/otel';
import { leasePeering } from '@kopf-ts/peering';
import { systemClock } from '@kopf-ts/reactor';
import { defaultLogger } from '../logging/default-logger.js';
import type { OperatorOptions } from '../options.js';
import { run } from '../running/run.js';

/** Runs the operator. Returns the exit code. */
export async function runForCli({
  kubeconfig,
  context,
  lease,
  adminTokenFile,
  otel,
  ...choice
}: RunChoice): Promise<number> {
  const clock = systemClock;
  const logger = defaultLogger();
  const tracing = otel && openTelemetry(otel);
  const peering = lease === undefined ? undefined : leasePeering({ name: lease });
  const admin = adminTokenFile === undefined ? choice.admin : { endpoint: choice.admin, tokenFile: adminTokenFile };
  const options: Options = { ...choice, admin, ...(tracing && { tracing }), ...(peering && { peering }) };
  if (kubeconfig !== undefined || context !== undefined) {
    const loginAsChosen = () => loginWith({ kubeconfig, context }, clock);
    // Mistakes in it are reported at once.
    await loginAsChosen();
    const credentials = reloadingCredentials(loginAsChosen, { clock, logger });
    return await runIfReachable({ ...options, credentials }, { clock, logger, login: loginAsChosen });
  }
  // Only the login handlers of an operator know how to reach the cluster.
  const { activities } = getDefaultRegistry().handlers;
  const hasLogins = [...activities].some(({ activity }) => activity === 'login');
  return hasLogins
    ? await run(options)
    : await runIfReachable(options, { clock, logger, login: () => login({ clock }) });
}

type Options = Omit<RunChoice, 'kubeconfig' | 'context' | 'lease' | 'otel' | 'admin' | 'adminTokenFile'> &
  Pick<OperatorOptions, 'credentials' | 'peering' | 'tracing' | 'admin'>;

async function loginWith({ kubeconfig, context }: Pick<RunChoice, 'kubeconfig' | 'context'>, clock: Clock) {
  const path = kubeconfig === undefined ? {} : { path: kubeconfig };
  const info = await loginWithKubeconfig({ ...path, ...(context === undefined ? {} : { context }), clock });
  if (info !== undefined) return info;
  throw new LoginError(
    kubeconfig === undefined
      ? `There is no kubeconfig to look for the context '${context}' in: set KUBECONFIG, or use --kubeconfig.`
      : `There is no kubeconfig at ${kubeconfig}.`,
  );
}

type Login = () => Promise<ConnectionInfo>;

interface Reaching {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly login: Login;
}

/** Time for an API server to restart, or for a person to think of the VPN. */
const PATIENCE: Seconds = 30;
const PAUSE: Seconds = 2;

/**
 * Operators outlive any outage of their clusters. But a cluster that is unreachable from the start is probably a mistake:
 * wrong credentials, no network. So it is probed only while the operator starts.
 */
async function runIfReachable(options: Options, { clock, logger, login }: Reaching): Promise<number> {
  const stopping = childController(options.signal);
  const over = new AbortController();
  const search = unreachable(clock, login, over.signal).then((problem) => {
    if (problem === undefined) return false;
    logger.error(
      `No answer from the cluster for ${PATIENCE} seconds: ${problem}. ` +
        'Is it up, and is it the right one? Check KUBECONFIG, or try the handlers without a cluster: kopf dev.',
    );
    stopping.abort('no cluster');
    return true;
  });
  try {
    const code = await run({ ...options, signal: stopping.signal });
    over.abort();
    return (await search) ? 1 : code;
  } finally {
    over.abort();
    stopping.dispose();
  }
}

/** Probes the cluster. Resolves with the problem if there is no answer in time. Any answer counts. */
async function unreachable(clock: Clock, login: Login, signal: AbortSignal): Promise<string | undefined> {
  const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  const credentials = reloadingCredentials(login, { clock, logger: silent });
  const networking = settings({ networking: { errorBackoffs: [] } });
  await using client = kubeClient({ credentials, settings: networking, clock, logger: silent });
  const deadline = clock.now() + PATIENCE;
  for (;;) {
    try {
      await client.request({ method: 'GET', path: '/version', retries: 'none', signal });
      return undefined;
    } catch (error) {
      // The operator itself reports failed logins.
      if (signal.aborted || !(error instanceof KubeConnectionError)) return undefined;
      if (clock.now() + PAUSE >= deadline) return describeError(error);
    }
    await clock.sleep(PAUSE, { wakeup: signal });
  }
}
