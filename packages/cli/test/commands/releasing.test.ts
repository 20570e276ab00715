import { describe, expect, it } from 'vitest';
import type { ReleasedObject } from '../../src/runtime.js';
import { kopf } from '../fakes.js';

const OBJECT: ReleasedObject = {
  title: 'foos default/one',
  traces: ['the finalizer x', 'the annotations y'],
  isDeleting: false,
};

describe('`release`', () => {
  it('only tells what would be done', async () => {
    const { code, out, releases } = await kopf(['release', 'foos'], { released: [OBJECT] });
    expect(code).toBe(0);
    expect(releases).toEqual([{ selectors: ['foos'], dryRun: true }]);
    expect(out).toBe(
      'foos default/one: would remove the finalizer x, the annotations y\nNothing has been changed. Add --yes to apply these changes.\n',
    );
  });

  it('does it if told so', async () => {
    const released = [OBJECT, { ...OBJECT, title: 'foos default/two', isDeleting: true }];
    const { out, releases } = await kopf(['release', 'foos', '--yes'], { released });
    expect(releases).toEqual([{ selectors: ['foos'], dryRun: false }]);
    expect(out).toBe(
      'foos default/one: removed the finalizer x, the annotations y\n' +
        'foos default/two: removed the finalizer x, the annotations y; its requested deletion proceeds\n',
    );
  });

  it('understands where, and whose', async () => {
    const options = ['--finalizer=a/b', '--prefix=example.com', '-n', 'ns1', '-n', 'ns2'];
    const { releases } = await kopf(['release', 'foos', 'bars', ...options]);
    expect(releases).toEqual([
      {
        selectors: ['foos', 'bars'],
        namespaces: ['ns1', 'ns2'],
        finalizer: 'a/b',
        prefix: 'example.com',
        dryRun: true,
      },
    ]);
  });

  it('says so if there is nothing', async () => {
    const { code, out } = await kopf(['release', 'foos', '--yes']);
    expect({ code, out }).toEqual({ code: 0, out: 'The operator has left nothing on the objects.\n' });
  });

  it('ends with 1 if something could not be released', async () => {
    const released = [
      { ...OBJECT, problem: 'it is forbidden' },
      { ...OBJECT, title: 'foos default/two' },
    ];
    const { code, err, out } = await kopf(['release', 'foos', '--yes'], { released });
    expect(code).toBe(1);
    expect(err).toBe('foos default/one: not released: it is forbidden\n');
    expect(out).toContain('foos default/two: removed');
  });

  it('is refused if there is nothing to release', async () => {
    const { code, err } = await kopf(['release', '--yes']);
    expect(code).toBe(2);
    expect(err).toContain('nothing to release: name the kinds of objects');
  });
});

describe('`release --webhooks`', () => {
  it.each([
    [['--webhooks'], { dryRun: true }],
    [['--webhooks', '--yes'], { dryRun: false }],
    [['--webhooks', 'mine', '--yes'], { name: 'mine', dryRun: false }],
    [['--webhooks=mine', '--yes'], { name: 'mine', dryRun: false }],
  ])('is about the configurations alone: %j', async (args, expected) => {
    const { webhooks, releases } = await kopf(['release', ...args]);
    expect(webhooks).toEqual([expected]);
    expect(releases).toEqual([]);
  });

  it('comes after the objects', async () => {
    const configurations = ['ValidatingWebhookConfiguration mine'];
    const { calls, out } = await kopf(['release', 'foos', '--webhooks', '--yes'], {
      released: [OBJECT],
      configurations,
    });
    expect(calls).toEqual(['configure', 'release', 'releaseWebhooks']);
    expect(out).toMatch(/removed the finalizer.*\nValidatingWebhookConfiguration mine: removed\n$/);
  });
});
