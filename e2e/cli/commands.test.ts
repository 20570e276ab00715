import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/operators/operators.js';
import { built, clusterWithFoos, foo, project } from './projects.js';

built();

const peering = fileURLToPath(new URL('../../examples/peering.yaml', import.meta.url));

const HANDLERS = `import * as kopf from 'kopf-ts';
kopf.on.create('foos', function created({ logger }) { logger.info('created'); });
kopf.on.delete('foos', function deleted({ logger }) { logger.info('deleted'); });
`;

describe('kopf', () => {
  it('tells its version and its help', async () => {
    const { kopf } = await project({});
    const version = kopf(['--version']);
    expect(await version.ended).toBe(0);
    expect(version.said).toEqual([expect.stringMatching(/^kopf, version \d+\.\d+\.\d+/)]);
    const help = kopf(['help', 'dev']);
    expect(await help.ended).toBe(0);
    expect(help.said[0]).toBe('Usage: kopf dev [options] [files...]');
    const nothing = kopf([]);
    expect(await nothing.ended).toBe(2);
    const nonsense = kopf(['run', 'handlers.ts', '--nonsense']);
    expect(await nonsense.ended).toBe(2);
  });
});

describe('kopf release', () => {
  it('lets go the objects of an operator that is gone', async () => {
    const { cluster, env } = await clusterWithFoos();
    const { kopf } = await project({ 'handlers.ts': HANDLERS });
    const operator = kopf(['run', 'handlers.ts', '-A'], { env });
    await cluster.apply(foo('one', 'value'));
    await operator.logs("Handler 'created' succeeded.");
    await eventually(() => expect(cluster.get('foos/default/one')?.metadata).toHaveProperty('annotations'));
    operator.kill('SIGKILL');
    await operator.ended;
    await cluster.delete('foos/default/one');
    expect(cluster.get('foos/default/one')).toBeDefined();

    const look = kopf(['release', 'foos'], { env });
    expect(await look.ended).toBe(0);
    expect(look.said[0]).toMatch(
      /^foos\.example\.com default\/one: would remove the finalizer kopf\.zalando\.org\/KopfFinalizerMarker, the annotations .*; its requested deletion would proceed/,
    );
    expect(look.said.at(-1)).toBe('Nothing has been changed. Add --yes to apply these changes.');
    expect(cluster.get('foos/default/one')).toBeDefined();

    const release = kopf(['release', 'foos', '--yes'], { env });
    expect(await release.ended).toBe(0);
    expect(release.said[0]).toMatch(/^foos\.example\.com default\/one: removed .*; its requested deletion proceeds/);
    expect(cluster.get('foos/default/one')).toBeUndefined();
  });

  it('ends with 1 if there is no such kind', async () => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project({});
    const release = kopf(['release', 'bars'], { env });
    expect(await release.ended).toBe(1);
    expect(release.log).toBe('Error: There is no kind "bars" in the cluster.\n');
  });

  it('removes the webhook configurations by name', async () => {
    const { cluster, env } = await clusterWithFoos();
    await cluster.create({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'auto.kopf.dev' },
      webhooks: [],
    });
    const { kopf } = await project({});
    const look = kopf(['release', '--webhooks', 'auto.kopf.dev'], { env });
    expect(await look.ended).toBe(0);
    expect(look.said[0]).toMatch(/^ValidatingWebhookConfiguration auto\.kopf\.dev.*: would be removed$/);
    const release = kopf(['release', '--webhooks', 'auto.kopf.dev', '--yes'], { env });
    expect(await release.ended).toBe(0);
    expect(cluster.get('validatingwebhookconfigurations/auto.kopf.dev')).toBeUndefined();
  });
});

describe('kopf freeze and kopf resume', () => {
  it('pause an operator, and let it go on', async () => {
    const { cluster, env } = await clusterWithFoos();
    await cluster.apply(await readFile(peering, 'utf8'));
    const { kopf } = await project({ 'handlers.ts': HANDLERS });
    const operator = kopf(['run', 'handlers.ts', '-A', '--peering=default'], { env });
    await eventually(() => expect(cluster.get('clusterkopfpeerings/default')?.status).toBeDefined());

    const freeze = kopf(['freeze', '--peering=default', '--lifetime=600', '-m', 'just so', '--id=me'], { env });
    expect(await freeze.ended).toBe(0);
    expect(freeze.said).toEqual(["Paused for 600 seconds by me: the operators of 'default' cluster-wide."]);
    await operator.logs('Pausing operations in favour of');
    expect(operator.log).toContain('just so');

    const resume = kopf(['resume', '--peering=default', '--id=me'], { env });
    expect(await resume.ended).toBe(0);
    await operator.logs('Resuming operations after the pause.');
  });

  it('end with 1 if there is no peering', async () => {
    const { env } = await clusterWithFoos();
    const { kopf } = await project({});
    const freeze = kopf(['freeze', '--peering=default', '--lifetime=600'], { env });
    expect(await freeze.ended).toBe(1);
    expect(freeze.log).toMatch(/^Error: Cannot find the peering resource: .*\n$/);
  });
});
