/** Tunnels of ngrok by its package, which is loaded only when it is needed: nobody else has to have it. */
import { abortable, describeError } from '@kopf-ts/core/engine';
import { type OpenTunnel, type TunnelRequest, tunnelError, withoutToken } from './tunnel.js';

/**
 * What is used of the package `@ngrok/ngrok`.
 *
 * ```ts
 * const withoutTunnel: kopf.webhooks.NgrokPackage = {
 *   forward: async ({ addr }) => ({ url: () => `http://${addr}`, close: async () => undefined }),
 * };
 * ```
 */
export interface NgrokPackage {
  forward(config: {
    readonly addr: string;
    readonly schemes: string[];
    readonly authtoken?: string;
    readonly authtoken_from_env?: boolean;
    readonly region?: string;
  }): Promise<{ url(): string | null; close(): Promise<void> }>;
}

// As a variable: a literal would be looked for by bundlers and compilers, also where nobody makes tunnels.
const PACKAGE: string = '@ngrok/ngrok';

export async function openByPackage(given: NgrokPackage | undefined, request: TunnelRequest): Promise<OpenTunnel> {
  const { target, token, region, signal } = request;
  const { forward } = given ?? (await loaded());
  const opening = forward({
    addr: `http://${target}`,
    schemes: ['https'],
    ...(token === undefined ? { authtoken_from_env: true } : { authtoken: token }),
    ...(region === undefined ? {} : { region }),
  });
  const listener = await abortable(opening, signal).catch((error: unknown) => {
    // It may be still on its way.
    opening.then((late) => late.close()).catch(() => {});
    signal.throwIfAborted();
    // Not as the cause: it would be printed, too.
    throw tunnelError(`The ngrok tunnel cannot be opened: ${withoutToken(describeError(error), token)}`);
  });
  const url = listener.url();
  if (url === null) {
    await listener.close();
    throw tunnelError('The ngrok tunnel is open, but has no address.');
  }
  // The package restores its connections by itself.
  return { url, broken: new Promise(() => {}), close: () => listener.close() };
}

async function loaded(): Promise<NgrokPackage> {
  try {
    const module: { default?: NgrokPackage } & NgrokPackage = await import(PACKAGE);
    return module.default ?? module;
  } catch (error) {
    throw tunnelError(
      `For tunnels, install the package: npm install ${PACKAGE}; or give the program: ngrokTunnel({ binary: 'ngrok' }). ` +
        `Now the package cannot be loaded: ${describeError(error)}`,
      error,
    );
  }
}
