import { makeResource } from '@kopf-ts/core/engine';
import { manualClock } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { liveInsights } from '../../src/discovery/insights.js';

const PODS = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod' });
const KEX = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples' });
const OLD_KEX = makeResource({ group: 'kopf.dev', version: 'v1beta1', plural: 'kopfexamples', preferred: false });
const NOTHING_SERVED = { watched: new Set<never>(), indexed: new Set<never>(), webhook: new Set<never>() };

describe('finding a kind', () => {
  it('goes by any selector', () => {
    const insights = liveInsights();
    insights.revise({ all: [PODS, OLD_KEX, KEX] });
    expect(insights.find('pods')).toBe(PODS);
    expect(insights.find({ kind: 'Pod' })).toBe(PODS);
    expect(insights.find('kopf.dev/kopfexamples')).toBe(KEX);
    expect(insights.find('kopf.dev/v1beta1/kopfexamples')).toBe(OLD_KEX);
    expect(insights.find('absents')).toBeUndefined();
  });

  it('can be waited for, also for ever', async () => {
    const clock = manualClock();
    const insights = liveInsights();
    const controller = new AbortController();
    const story: string[] = [];
    void insights.whenFound('pods').then((found) => story.push(found.plural));
    void insights.whenFound('absents', controller.signal).catch(() => story.push('aborted'));
    await clock.settle();
    expect(story).toEqual([]);
    insights.revise({ all: [KEX] });
    insights.revise({ all: [KEX, PODS] });
    await clock.settle();
    expect(story).toEqual(['pods']);
    controller.abort();
    await clock.settle();
    expect(story).toEqual(['pods', 'aborted']);
  });
});

describe('the readiness', () => {
  it('comes with both the kinds and the namespaces, even if there are none', async () => {
    const clock = manualClock();
    const insights = liveInsights();
    let isReady = false;
    void insights.whenReady().then(() => {
      isReady = true;
    });
    insights.revise({ all: [PODS] });
    insights.revise({ namespaces: new Set() });
    await clock.settle();
    expect([insights.isReady, isReady]).toEqual([false, false]);
    insights.revise(NOTHING_SERVED);
    await clock.settle();
    expect([insights.isReady, isReady]).toEqual([true, true]);
  });
});

describe('the revisions', () => {
  it('come at once, and then with each change, but not without changes', async () => {
    const clock = manualClock();
    const insights = liveInsights();
    const controller = new AbortController();
    let revisions = 0;
    let isOver = false;
    void (async () => {
      for await (const _ of insights.revisions(controller.signal)) revisions += 1;
      isOver = true;
    })();
    const told = async (): Promise<number> => {
      await clock.settle();
      return revisions;
    };
    expect(await told()).toBe(1);
    insights.revise({ all: [PODS] });
    expect(await told()).toBe(2);
    insights.revise({ all: [PODS] });
    expect(await told()).toBe(2);
    insights.revise({ ...NOTHING_SERVED, watched: new Set([PODS]) });
    expect(await told()).toBe(3);
    insights.revise({ watched: new Set([PODS]) });
    expect(await told()).toBe(3);
    insights.revise({ watched: new Set([makeResource({ ...PODS })]) });
    expect(await told()).toBe(4);
    insights.revise({ namespaces: new Set(['ns1']) });
    expect(await told()).toBe(5);
    controller.abort();
    await clock.settle();
    expect(isOver).toBe(true);
  });
});
