import { execFileSync } from 'node:child_process';
import { localCluster } from '@kopf-ts/apiserver';
import { kubeClient } from '@kopf-ts/client';
import { systemClock } from '@kopf-ts/reactor';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, inject, it } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { program } from '../support/operators/programs.js';
import type { ServiceProgram } from './programs/service.js';
import { type Place, reviewThroughService, type ServiceResults } from './support/services.js';

/** Endpoints may not be on the loopback, but the loopback interface may have other addresses. */
const ADDRESSES = ['10.77.0.1', '10.77.0.2'] as const;

/** A network of its own, with these addresses; then, whatever is to be run in it. */
const IN_NAMESPACE = [
  ...['unshare', '--net', 'sh', '-ec'],
  `ip link set lo up; ${ADDRESSES.map((address) => `ip addr add ${address}/32 dev lo; `).join('')} exec "$@"`,
  'sh',
];

/** Why there can be no such network here; nothing if there can. */
function whyNoNamespaces(): string | undefined {
  try {
    execFileSync('unshare', [...IN_NAMESPACE.slice(1), 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `no network namespaces can be made: ${(error as Error).message.trim()}`;
  }
}

const real = inject('realCluster');
const whyNot = real.kind === 'unavailable' ? real.reason : whyNoNamespaces();
if (whyNot !== undefined) console.log(`webhooks behind services of a real cluster are SKIPPED: ${whyNot}.`);

describe('webhooks behind a service', () => {
  it('are asked by the embedded server', async () => {
    let published: readonly Place[] = [];
    let turn = 0;
    await using cluster = await localCluster({
      resolveService({ name, port }) {
        const place = published[turn++ % published.length];
        return name === 'webhooks' && port === 8443 && place ? `${place.addr}:${place.port}` : undefined;
      },
    });
    const connection = { server: cluster.url, token: cluster.token };
    const client = kubeClient({ connection, clock: systemClock, logger: recordingLogger() });
    const [one = 0, two = 0] = await freePorts(2);
    const results = await reviewThroughService({
      client,
      connection,
      places: [
        { addr: '127.0.0.1', port: one },
        { addr: '127.0.0.1', port: two },
      ],
      publish: async (_service, places) => {
        published = places;
      },
    });
    await client.close();
    expectReviewed(results);
  }, 180_000);

  const start = program(new URL('programs/service.ts', import.meta.url), { through: IN_NAMESPACE });

  it.skipIf(whyNot !== undefined)(
    'are asked by a real kube-apiserver, in a network of our own',
    async () => {
      const argument: ServiceProgram = { addresses: ADDRESSES };
      const running = start(argument);
      expect(await running.ended, running.log).toBe(0);
      expectReviewed(JSON.parse(running.said.at(-1) ?? '{}') as ServiceResults);
    },
    180_000,
  );
});

function expectReviewed({ namespace, clientConfigs, ...reviews }: ServiceResults): void {
  const { withBoth, whileStopping, withSecond, withFirst } = reviews;
  const service = { namespace, name: 'webhooks', port: 8443 };
  expect(clientConfigs).toEqual([
    { service: { ...service, path: '/hooks/check' }, caBundle: expect.any(String) },
    { service: { ...service, path: expect.stringMatching(/^\/hooks\/[a-z0-9./-]+$/) }, caBundle: expect.any(String) },
  ]);
  const answers = [
    '201',
    expect.stringMatching(/^400 admission webhook ".*" denied the request: Not even zero\.$/),
    '422 admission webhook "check.service.test.example.com" denied the request: Not a size.',
  ];
  for (const reviewed of [withBoth, whileStopping, withSecond, withFirst]) expect(reviewed.answers).toEqual(answers);
  // Who of them is asked depends on what connections there are.
  expect(withBoth.byFirst + withBoth.bySecond).toBeGreaterThan(0);
  expect([withSecond.byFirst, withFirst.bySecond]).toEqual([0, 0]);
  expect(Math.min(withSecond.bySecond, withFirst.byFirst)).toBeGreaterThan(0);
}
