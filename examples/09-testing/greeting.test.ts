import { readFile } from 'node:fs/promises';
import { localCluster, manualClock, operatorRunner } from 'kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { greetingOf } from './handlers.js';

const handlers = new URL('handlers.ts', import.meta.url);
const definition = await readFile(new URL('../crd.yaml', import.meta.url), 'utf8');
const object = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name: 'one', namespace: 'default' } };

describe('the text', () => {
  it('is polite to everybody', () => {
    expect(greetingOf({ field: 'world' })).toBe('Hello, world!');
    expect(greetingOf({})).toBe('Hello, stranger!');
  });
});

describe('the operator', () => {
  it('greets when it has thought about it for long enough', async () => {
    const clock = manualClock();
    await using cluster = await localCluster({ clock });
    await cluster.apply(definition);
    await using runner = await operatorRunner({ cluster, handlers, clock });
    await runner.ready;

    await cluster.create({ ...object, spec: { field: 'world' } });
    await runner.outcomes.next({ handler: 'greet', how: 'retried' });
    expect(runner.output).toContain('Let me think about it.');
    expect(cluster.get('kopfexamples/default/one')?.['status']).toBeUndefined();

    await clock.advance(300);
    await runner.settled();
    expect(cluster.get('kopfexamples/default/one')?.['status']).toEqual({ greeted: 'Hello, world!' });

    // There is nothing left to do for it; and if it had to be done again, nothing would change by that.
    await runner.expectQuiescent();
    await runner.expectIdempotent();

    await runner.stop();
    expect(runner.exitCode).toBe(0);
  });

  it('gets over a server that fails for a while', async () => {
    const clock = manualClock();
    await using cluster = await localCluster({ clock });
    await cluster.apply(definition);
    await using runner = await operatorRunner({ cluster, handlers, clock });
    await runner.ready;

    const outage = cluster.faults.add({ match: { method: 'PATCH' }, answer: { status: 503 } });
    await cluster.create(object);
    await runner.settled();
    expect(outage.hits).toBeGreaterThan(0);
    outage.remove();
    await clock.advance(700);
    await runner.settled();
    expect(cluster.get('kopfexamples/default/one')?.['status']).toEqual({ greeted: 'Hello, stranger!' });
  });
});
