/** What all ways of making a tunnel have in common. */
import { KopfError } from '@kopf-ts/core';
import type { ServerSurroundings } from '../servers/serving.js';

/** What is open until it is closed, or breaks by itself. */
export interface OpenTunnel {
  /** Where the tunnel begins. */
  readonly url: string;
  /** Rejects when the tunnel breaks. Never resolves. */
  readonly broken: Promise<never>;
  close(): Promise<void>;
}

/** Where the tunnel ends, and how it is made. */
export interface TunnelRequest extends Pick<ServerSurroundings, 'clock' | 'signal' | 'logger'> {
  /** `host:port`. */
  readonly target: string;
  readonly token: string | undefined;
  readonly region: string | undefined;
}

export function tunnelError(message: string, cause?: unknown): KopfError {
  return new KopfError(message, { code: 'KOPF_BAD_ENDPOINT', ...(cause === undefined ? {} : { cause }) });
}

/** What ngrok says of a wrong token has the token in it: the given one, or that of the environment. */
export function withoutToken(text: string, token = process.env['NGROK_AUTHTOKEN']): string {
  return token ? text.replaceAll(token, '***') : text;
}
