import { describe, expect, it } from 'vitest';
import { makeResource } from '../../src/values/resources/resource.js';
import { formatWatchTarget, watchTarget, watchTargetKey } from '../../src/values/resources/watch-target.js';

const PODS = makeResource({ group: '', version: 'v1', plural: 'pods', namespaced: true });
const KEX = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples' });

describe('a target of a watch', () => {
  it('is the whole cluster and all objects unless told otherwise', () => {
    expect(watchTarget(PODS)).toEqual({ resource: PODS, namespace: null });
    expect(watchTarget(PODS, { namespace: undefined, labelSelector: '', fieldSelector: undefined })).toEqual(
      watchTarget(PODS),
    );
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(watchTarget(PODS))).toBe(true);
  });

  it.each([
    [watchTarget(PODS), 'pods.v1 cluster-wide'],
    [watchTarget(KEX, { namespace: 'ns' }), 'kopfexamples.v1.kopf.dev in namespace ns'],
    [watchTarget(PODS, { labelSelector: 'app=web' }), 'pods.v1 cluster-wide with labels app=web'],
    [
      watchTarget(PODS, { namespace: 'ns', labelSelector: 'app', fieldSelector: 'metadata.name=a' }),
      'pods.v1 in namespace ns with labels app and fields metadata.name=a',
    ],
  ])('is readable in logs: %#', (target, text) => {
    expect(formatWatchTarget(target)).toBe(text);
  });

  it('has the same key if it means the same, whatever else its kind is described by', () => {
    const described = makeResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', verbs: ['list'] });
    const fields = { namespace: 'ns', labelSelector: 'a=b' };
    expect(watchTargetKey(watchTarget(PODS, fields))).toBe(watchTargetKey(watchTarget(described, fields)));
  });

  it('has another key if anything of its meaning is different', () => {
    const targets = [
      watchTarget(PODS),
      watchTarget(KEX),
      watchTarget(PODS, { namespace: 'ns' }),
      watchTarget(PODS, { labelSelector: 'x=y' }),
      watchTarget(PODS, { fieldSelector: 'x=y' }),
      watchTarget(PODS, { labelSelector: 'x=y', fieldSelector: 'x=y' }),
      watchTarget(PODS, { labelSelector: 'x=y","x=y' }),
      watchTarget(PODS, { namespace: 'ns', labelSelector: 'x=y' }),
    ];
    expect(new Set(targets.map(watchTargetKey)).size).toBe(targets.length);
  });
});
