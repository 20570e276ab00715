import type { Logger } from '@kopf-ts/core';
import { consoleLogger, type LoggingOptions } from '../../src/logging/default-logger.js';

/** The same time of the day everywhere: it is made of local parts, and printed by them. */
const LOCAL = new Date(2026, 10, 16, 1, 41, 36, 154);

/** In all time zones, the same in UTC. */
export const UTC = new Date('2026-11-16T01:41:36.155Z');

export interface Captured {
  readonly logger: Logger;
  readonly stream: { text: string; isTTY?: boolean; write(text: string): void };
}

export function capture(options: LoggingOptions & { readonly isTTY?: boolean } = {}): Captured {
  const { isTTY = false, ...others } = options;
  const stream = {
    text: '',
    isTTY,
    write(text: string) {
      stream.text += text;
    },
  };
  return {
    stream,
    logger: consoleLogger({ now: () => LOCAL, stream, ...others }),
  };
}

export const NAMESPACED = { apiVersion: 'g/v1', kind: 'K', name: 'n', uid: 'u', namespace: 'ns' };
export const CLUSTERED = { apiVersion: 'g/v1', kind: 'K', name: 'n', uid: 'u', namespace: null };
