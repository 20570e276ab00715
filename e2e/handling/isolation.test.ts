import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeOnClusters } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually, startOperator } from '../support/operators/operators.js';

describeOnClusters('several operators in one process', (cluster) => {
  let things: TestKind;
  let namespaces: string[];
  beforeAll(async () => {
    things = await cluster().newKind();
  });
  beforeEach(async () => {
    namespaces = await Promise.all([cluster().newNamespace(), cluster().newNamespace()]);
  });

  it('do not see each other: neither handlers, nor memos, nor settings, nor the ends', async () => {
    const calls: string[] = [];
    const start = (title: string, namespace: string | undefined) =>
      startOperator(
        cluster(),
        ({ on }) => {
          on.startup(function configure({ settings, memo }) {
            settings.persistence.finalizer = `example.com/${title}`;
            memo.title = title;
          });
          on.create(things.selector, { when: ({ memo }) => memo.title === title }, function created({ name, memo }) {
            memo.count = (memo.count ?? 0) + 1;
            calls.push(`${memo.title}: created ${name} ${memo.count}`);
          });
          on.delete(things.selector, function deleted({ name, memo }) {
            calls.push(`${memo.title}: deleted ${name} ${memo.count}`);
          });
          on.cleanup(function finish({ memo }) {
            calls.push(`${memo.title}: ends`);
          });
        },
        namespace === undefined ? { clusterwide: true } : { namespaces: [namespace] },
      );
    const [left = '', right = ''] = namespaces;
    const [first, second] = await Promise.all([start('first', left), start('second', right)]);
    await things.create(left, 'in-left');
    await things.create(right, 'in-right');
    await eventually(() => expect(calls).toHaveLength(2));
    expect(calls.splice(0).sort()).toEqual(['first: created in-left 1', 'second: created in-right 1']);
    expect((await things.get(left, 'in-left'))?.metadata?.finalizers).toEqual(['example.com/first']);
    expect((await things.get(right, 'in-right'))?.metadata?.finalizers).toEqual(['example.com/second']);

    await first.stop();
    expect(calls.splice(0)).toEqual(['first: ends']);
    await things.create(left, 'too-late');
    await things.delete(right, 'in-right');
    await eventually(() => expect(calls).toEqual(['second: deleted in-right 1']));
    await second.stop();
    expect((await things.get(left, 'too-late'))?.metadata?.finalizers).toBeUndefined();
    expect(second.logger.find('in-left')).toBeUndefined();
    await things.patch(left, 'in-left', { metadata: { finalizers: null } });
  });

  it('fail alone: an error left behind by a handler of one is nothing to the other', async () => {
    const [left = '', right = ''] = namespaces;
    const calls: string[] = [];
    const start = (title: string, namespace: string) =>
      startOperator(
        cluster(),
        ({ on }) => {
          on.create(things.selector, function created({ spec, name }) {
            calls.push(`${title} ${name}`);
            if (spec['isBad']) void Promise.reject(new Error('Nobody awaits this.'));
          });
        },
        { namespaces: [namespace] },
      );
    const [bad, good] = await Promise.all([start('bad', left), start('good', right)]);
    await things.create(left, 'one', { spec: { isBad: true } });
    await expect(bad.done).rejects.toThrow(/'created'.*Nobody awaits this\./);
    await things.create(right, 'two');
    await eventually(() => expect(calls).toContain('good two'));
    await good.stop();
    expect(good.logger.messages('error')).toEqual([]);
  });
});
