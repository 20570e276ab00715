import { describe, expect, it } from 'vitest';
import { contents, harness, pod } from '../harness.js';

describe('filters', () => {
  it('keep objects out, and remove those that do not fit any more', () => {
    const { registry, indexer, see } = harness();
    const ref = registry.index('pods', { id: 'a', labels: { app: 'web' } }, ({ name }) => name);
    const labelled = (name: string, app: string) => pod(name, { metadata: { labels: { app } } });
    see(labelled('one', 'web'));
    see(labelled('two', 'db'));
    expect(contents(indexer.indices.get(ref))).toEqual({ null: ['one'] });
    see(labelled('one', 'db'));
    see(labelled('two', 'web'));
    expect(contents(indexer.indices.get(ref))).toEqual({ null: ['two'] });
  });

  it('are of each function: what does not fit one, may fit another', () => {
    const { registry, indexer, see } = harness();
    registry.index('pods', { id: 'small', when: ({ spec }) => spec['size'] < 5 }, ({ name }) => name);
    registry.index('pods', { id: 'large', field: 'spec.size', value: (size) => size >= 5 }, ({ name }) => name);
    const sizes = () => ['small', 'large'].map((id) => contents(indexer.indices.get(id)));
    see(pod('one', { spec: { size: 1 } }));
    expect(sizes()).toEqual([{ null: ['one'] }, {}]);
    see(pod('one', { spec: { size: 9 } }));
    expect(sizes()).toEqual([{}, { null: ['one'] }]);
  });

  it('can divide objects among functions of one index', () => {
    const { registry, indexer, see } = harness();
    registry.index('pods', { id: 'a', when: ({ spec }) => spec['n'] === 1 }, ({ name }) => `${name} by the first`);
    registry.index('pods', { id: 'a', when: ({ spec }) => spec['n'] === 2 }, ({ name }) => `${name} by the second`);
    see(pod('one', { spec: { n: 1 } }));
    see(pod('two', { spec: { n: 2 } }));
    expect(contents(indexer.indices.get('a'))).toEqual({ null: ['one by the first', 'two by the second'] });
    see(pod('one', { spec: { n: 2 } }));
    see(pod('two', { spec: { n: 3 } }));
    expect(contents(indexer.indices.get('a'))).toEqual({ null: ['one by the second'] });
  });

  it('see the indices, as the functions do', () => {
    const { registry, indexer, see } = harness();
    const first = registry.index('pods', { id: 'first' }, ({ name }) => name);
    registry.index(
      'pods',
      { id: 'news', when: ({ indices, name }) => !indices.get(first).get(null)?.has(name) },
      () => 1,
    );
    see(pod('one'));
    expect(contents(indexer.indices.get('news'))).toEqual({ null: [1] });
    see(pod('one'));
    expect(contents(indexer.indices.get('news'))).toEqual({});
  });

  it('that fail are told of, and neither disturb other functions nor remove what is indexed', () => {
    const { registry, indexer, logger, see } = harness();
    const when = ({ spec }: { spec: Record<string, unknown> }): boolean => {
      if (spec['broken']) throw new Error('oops');
      return true;
    };
    registry.index('pods', { id: 'filtered', when }, ({ spec }) => spec['n'] as number);
    registry.index('pods', { id: 'other' }, ({ spec }) => spec['n'] as number);
    registry.index('pods', { id: 'unfit', labels: { no: 'such' } }, () => 1);
    see(pod('one', { spec: { n: 1 } }));
    expect(see(pod('one', { spec: { n: 2, broken: true } }))).toBeUndefined();
    expect(contents(indexer.indices.get('filtered'))).toEqual({ null: [1] });
    expect(contents(indexer.indices.get('other'))).toEqual({ null: [2] });
    expect(contents(indexer.indices.get('unfit'))).toEqual({});
    const line = logger.find("Indexer 'filtered' has filters that failed with an exception and will ignore it");
    expect([line?.level, line?.fields['error']]).toEqual(['error', new Error('oops')]);
  });
});
