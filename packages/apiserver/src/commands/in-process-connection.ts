/** Messages about a command without a socket between. */
import { KopfError, type KubeConnection, type KubeConnectRequest } from '@kopf-ts/core';
import { abortable, onAbort } from '@kopf-ts/core/engine';
import { type ExecCommand, execSession, PROTOCOLS } from './exec-session.js';

export async function connectInProcess(
  { path, protocols, signal }: KubeConnectRequest,
  ask: (path: string, signal: AbortSignal) => Promise<ExecCommand>,
): Promise<KubeConnection> {
  signal?.throwIfAborted();
  const leaving = new AbortController();
  const command = await abortable(ask(path, leaving.signal), signal);
  const protocol = PROTOCOLS.find((one) => protocols.includes(one));
  if (protocol === undefined) {
    throw new KopfError(`The server speaks none of these protocols: ${protocols.join(', ')}.`, {
      code: 'KOPF_BAD_PROTOCOL',
    });
  }
  const messages: Uint8Array[] = [];
  let end: { readonly error?: unknown } | undefined;
  let wake: () => void = () => {};
  const finish = (how: { readonly error?: unknown }): void => {
    end ??= how;
    wake();
  };
  const give = (message: Uint8Array): void => {
    messages.push(message);
    wake();
  };
  const session = execSession(command, protocol, give, () => finish({}));
  const leave = (how: { readonly error?: unknown }): void => {
    session.leave();
    finish(how);
  };
  const unfollow = signal === undefined ? () => {} : onAbort(signal, (error) => leave({ error }));
  const close = (): void => {
    leave({});
    unfollow();
  };
  return {
    protocol,
    close,
    send(message) {
      if (end !== undefined)
        return Promise.reject(new KopfError('The connection is closed.', { code: 'KOPF_CONNECTION' }));
      session.accept(message);
      return Promise.resolve();
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          const message = messages.shift();
          if (message !== undefined) yield message;
          else if (end === undefined) await new Promise<void>((resolve) => (wake = resolve));
          else if ('error' in end) throw end.error;
          else return;
        }
      } finally {
        close();
      }
    },
  };
}
