/** A health reporter under test: on a real socket, with a manual clock. */
import type { KubeClient } from '@kopf-ts/core';
import { onTestFinished } from 'vitest';
import { activities } from '../../src/activities/activities.js';
import { health as makeHealth } from '../../src/probing/health.js';
import { deferred, followed, type PartsUnderTest, partsUnderTest } from '../activities/operator-parts.js';

type Listening = { readonly address: string; readonly port: number };

export interface ProbingUnderTest extends PartsUnderTest {
  readonly health: ReturnType<typeof makeHealth>;
  readonly running: ReturnType<typeof followed>;
  readonly address: Listening;
  /** The address without the path. */
  readonly url: string;
  get(path?: string, init?: RequestInit): Promise<Response>;
  stop(): void;
}

export async function probing(
  declare: (parts: PartsUnderTest) => void = () => {},
  { liveness = 'http://127.0.0.1:0/healthz', client }: { liveness?: string; client?: KubeClient } = {},
): Promise<ProbingUnderTest> {
  const parts = partsUnderTest(client && { client });
  declare(parts);
  const health = makeHealth(parts);
  const controller = new AbortController();
  const listening = deferred<Listening>();
  const life = activities({ ...parts, memo: {}, health, liveness, onListening: listening.resolve });
  const [reporter] = life.probes;
  if (reporter === undefined) throw new Error('There is no health reporter.');
  const run = reporter.run(controller.signal);
  const running = followed(run);
  const stop = (): void => controller.abort(new Error('the end'));
  onTestFinished(async () => {
    stop();
    await parts.clock.advance(1);
    await run;
  });
  const address = await Promise.race([listening.promise, run.then(() => Promise.reject(new Error('It has ended.')))]);
  const url = `http://127.0.0.1:${address.port}`;
  const get = (path = '/healthz', init: RequestInit = {}): Promise<Response> => fetch(`${url}${path}`, init);
  return { ...parts, health, running, address, url, get, stop };
}
