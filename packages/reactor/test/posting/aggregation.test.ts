import { describe, expect, it } from 'vitest';
import { about, posterUnderTest } from './running-poster.js';

describe('repeated events', () => {
  it('are posted at once for the first time, exactly as Kopf does it', async () => {
    const poster = posterUnderTest();
    await poster.start();
    await poster.clock.advance(1);
    poster.post({});
    await poster.clock.settle();
    expect(poster.requests).toMatchObject([
      { method: 'POST', path: '/api/v1/namespaces/ns/events', contentType: 'application/json', retries: 'none' },
    ]);
    expect(JSON.stringify(poster.requests[0]?.body)).toBe(
      JSON.stringify({
        metadata: { namespace: 'ns', generateName: 'kopf-event-' },
        action: 'Action?',
        type: 'Normal',
        reason: 'Reason',
        message: 'Text.',
        reportingComponent: 'kopf',
        reportingInstance: 'dev',
        source: { component: 'kopf' },
        involvedObject: { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', name: 'a', uid: 'uid-a', namespace: 'ns' },
        firstTimestamp: '2020-01-01T00:00:01.000000+00:00',
        lastTimestamp: '2020-01-01T00:00:01.000000+00:00',
        eventTime: '2020-01-01T00:00:01.000000+00:00',
      }),
    );
  });

  it('are collected for ten seconds, and posted as one with a count', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.post({});
    for (let second = 1; second <= 5; second++) {
      await poster.clock.advance(1);
      poster.post({});
    }
    await poster.clock.advance(4.9);
    expect(poster.posted).toHaveLength(1);
    await poster.clock.advance(0.1);
    expect(poster.posted).toHaveLength(2);
    expect(poster.posted[1]).toMatchObject({
      message: 'Text.',
      count: 5,
      firstTimestamp: '2020-01-01T00:00:01.000000+00:00',
      lastTimestamp: '2020-01-01T00:00:05.000000+00:00',
      eventTime: '2020-01-01T00:00:01.000000+00:00',
    });
  });

  it('have no count if there was only one repeat', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.post({});
    await poster.clock.advance(1);
    poster.post({});
    await poster.clock.advance(9);
    expect(poster.posted).toHaveLength(2);
    expect(poster.posted[1]).not.toHaveProperty('count');
  });

  it('begin anew after a window without repeats', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.post({});
    await poster.clock.advance(11);
    expect(poster.posted).toHaveLength(1);
    poster.post({});
    await poster.clock.settle();
    expect(poster.posted).toHaveLength(2);
  });

  it('are told as one from the beginning if they come in one go', async () => {
    const poster = posterUnderTest();
    await poster.start();
    for (let time = 0; time < 7; time++) poster.post({});
    await poster.clock.advance(60);
    expect(poster.posted).toMatchObject([{ count: 7 }]);
  });

  it.each([
    ['another object', { about: about('b') }],
    ['another type', { type: 'Warning' }],
    ['another reason', { reason: 'Other' }],
    ['another message', { message: 'Other.' }],
    ['an object re-created under the same name', { about: { ...about('a'), metadata: { name: 'a', uid: 'new' } } }],
  ])('are not those of %s', async (_title, other) => {
    const poster = posterUnderTest();
    await poster.start();
    poster.post({});
    poster.post(other);
    await poster.clock.settle();
    expect(poster.posted).toHaveLength(2);
    expect(poster.times).toBe(2);
  });

  it('are recognised by names if the object has no uid', async () => {
    const poster = posterUnderTest();
    await poster.start();
    const [pod, other] = ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } }));
    if (pod === undefined || other === undefined) throw new Error('impossible');
    for (const it of [pod, other, structuredClone(pod)]) poster.post({ about: it });
    await poster.clock.settle();
    expect(poster.posted).toMatchObject([
      { count: 2, involvedObject: { name: 'a' } },
      { involvedObject: { name: 'b' } },
    ]);
  });
});

describe('an object being reported on', () => {
  it('is remembered only as a reference, as it was at that moment', async () => {
    const poster = posterUnderTest();
    let reads = 0;
    const metadata = { name: 'a', namespace: 'ns', uid: 'u' };
    const live = new Proxy(
      { apiVersion: 'v1', kind: 'Pod', metadata },
      {
        get(target, key) {
          reads += 1;
          return Reflect.get(target, key) as unknown;
        },
      },
    );
    poster.post({ about: live });
    const readsAtOnce = reads;
    expect(readsAtOnce).toBeGreaterThan(0);
    metadata.name = 'changed';
    await poster.start();
    expect(poster.posted).toMatchObject([{ involvedObject: { name: 'a' } }]);
    expect(reads).toBe(readsAtOnce);
  });

  it('that is broken in any way does not fail the handler, only the event', async () => {
    const poster = posterUnderTest();
    await poster.start();
    const broken = {
      get metadata(): never {
        throw new Error('broken');
      },
    };
    poster.post({ about: broken });
    poster.post({});
    await poster.clock.settle();
    expect(poster.logger.messages('warn')).toEqual(['Failed to post an event: broken']);
    expect(poster.posted).toHaveLength(1);
  });

  it('that is an event itself is not reported on', async () => {
    const poster = posterUnderTest();
    await poster.start();
    poster.post({ about: { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e', namespace: 'ns' } } });
    poster.post({
      about: { apiVersion: 'events.example.com/v1', kind: 'Event', metadata: { name: 'e', namespace: 'ns' } },
    });
    await poster.clock.settle();
    expect(poster.posted).toMatchObject([{ involvedObject: { apiVersion: 'events.example.com/v1' } }]);
  });

  it.each([
    ['home', 'home'],
    [undefined, 'default'],
  ])('in the cluster, with the namespace of the credentials %j, has its events in %j', async (own, expected) => {
    const poster = posterUnderTest({ defaultNamespace: () => own });
    await poster.start();
    poster.post({ about: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } } });
    await poster.clock.settle();
    expect(poster.requests).toMatchObject([{ path: `/api/v1/namespaces/${expected}/events` }]);
    expect(poster.posted).toMatchObject([{ involvedObject: { namespace: expected } }]);
  });
});
