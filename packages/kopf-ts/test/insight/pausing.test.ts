import { deepCopy, type FieldPath, type Registry, storage, TemporaryError } from 'kopf-ts';
import { describe, expect, it } from 'vitest';
import { type Asked, asked, KIND } from './asked.js';

const ANNOTATION = 'kopf.zalando.org/paused-until';

interface Paused extends Asked {
  readonly calls: string[];
  pauseFor(seconds: number): Promise<void>;
  resume(): Promise<void>;
}

/** One handler of each kind, and an object for them. */
async function paused(declare?: (registry: Registry, calls: string[]) => void): Promise<Paused> {
  const calls: string[] = [];
  const note = (what: string) => (): void => void calls.push(what);
  const place = await asked((registry) => {
    if (declare !== undefined) return declare(registry, calls);
    const { on, timer, daemon } = registry;
    on.create(KIND, { id: 'made' }, note('made'));
    on.update(KIND, { id: 'edited' }, note('edited'));
    on.delete(KIND, { id: 'unmade' }, note('unmade'));
    on.event(KIND, { id: 'seen' }, note('seen'));
    timer(KIND, { id: 'ticks', interval: 10 }, note('ticked'));
    daemon(KIND, { id: 'runs' }, async ({ stopped }) => {
      calls.push('began');
      await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
      calls.push(`ended: ${String(stopped.reason)}`);
    });
  });
  const annotate = (value: string | null): Promise<void> =>
    place.patch('one', { metadata: { annotations: { [ANNOTATION]: value as string } } });
  return {
    ...place,
    calls,
    pauseFor: (seconds) => annotate(new Date(place.cluster.clock.utc().getTime() + seconds * 1000).toISOString()),
    resume: () => annotate(null),
  };
}

/** What has happened since the last look. */
function taken(calls: string[]): string[] {
  return calls.splice(0);
}

describe('An object that is paused by an annotation', () => {
  it('has none of its handlers called, until it is resumed; then all that was missed is handled', async () => {
    const { create, patch, pauseFor, resume, advance, calls } = await paused();
    await create('one', { spec: { size: 1 } });
    expect(new Set(taken(calls))).toEqual(new Set(['began', 'made', 'seen', 'ticked']));
    await pauseFor(3600);
    await advance(1);
    expect(taken(calls)).toEqual([expect.stringContaining('operator-pausing')]);
    await patch('one', { spec: { size: 2 } });
    await advance(60);
    expect(taken(calls)).toEqual([]);
    await resume();
    await advance(1);
    const after = taken(calls);
    expect(after.filter((call) => call === 'edited')).toEqual(['edited']);
    expect(after).toContain('began');
    expect(after).toContain('ticked');
    expect(after.filter((call) => call === 'seen').length).toBeGreaterThan(2);
  });

  it('goes on by itself when the time is over', async () => {
    const { create, patch, pauseFor, advance, calls, texts } = await paused();
    await create('one');
    await pauseFor(100);
    await patch('one', { spec: { size: 2 } });
    await advance(99);
    expect(calls).not.toContain('edited');
    const [text] = await texts('paused');
    expect(text).toMatch(/^The object is paused by an annotation, and resumes in 1 s, at [\d:]+ UTC\.$/);
    await advance(2);
    expect(calls).toContain('edited');
    expect(calls.filter((call) => call === 'began')).toHaveLength(2);
    expect(await texts('paused')).toEqual([]);
  });

  it('is not begun with at all by an operator that starts later', async () => {
    const { create, calls, advance } = await paused();
    await create('one', { metadata: { annotations: { [ANNOTATION]: '2020-01-01T01:00:00Z' } } });
    await advance(60);
    expect(calls).toEqual([]);
    await advance(3600);
    expect(calls).toContain('made');
  });

  it('waits with retries and deletions', async () => {
    const { create, pauseFor, resume, cluster, settled, advance, calls } = await paused(({ on }, calls) => {
      on.create(KIND, { id: 'made' }, () => {
        calls.push('made');
        throw new TemporaryError('not yet', { delay: 10 });
      });
      on.delete(KIND, { id: 'unmade' }, () => void calls.push('unmade'));
    });
    await create('one');
    await pauseFor(3600);
    await advance(60);
    expect(taken(calls)).toEqual(['made']);
    await cluster.delete(`${KIND}/default/one`);
    await settled();
    expect(calls).toEqual([]);
    await resume();
    expect(calls).toEqual(['unmade']);
    expect(cluster.get(`${KIND}/default/one`)).toBeUndefined();
  });

  it('is done with when it is gone, though nobody has resumed it', async () => {
    const { create, pauseFor, cluster, settled, calls, operator } = await paused(({ on }, calls) => {
      on.event(KIND, { id: 'seen' }, ({ event }) => void calls.push(String(event.type)));
    });
    await create('one');
    await pauseFor(3600);
    taken(calls);
    await cluster.delete(`${KIND}/default/one`);
    await settled();
    expect(calls.at(-1)).toBe('DELETED');
    expect(operator.control.objects()).toEqual([]);
  });

  it('stays in the indices, as it is by then', async () => {
    const { create, patch, pauseFor, calls } = await paused(({ on, index }, calls) => {
      index(KIND, { id: 'sizes' }, ({ name, spec }) => ({ [name]: spec['size'] }));
      on.create(KIND, { id: 'made', labels: { is: 'curious' } }, ({ indices }) => {
        calls.push(`one is ${JSON.stringify([...(indices.get('sizes')?.get('one') ?? [])])}`);
      });
    });
    await create('one', { spec: { size: 1 } });
    await pauseFor(3600);
    await patch('one', { spec: { size: 2 } });
    await create('two', { metadata: { labels: { is: 'curious' } } });
    expect(calls).toEqual(['one is [2]']);
  });

  it.each(['tomorrow', '', '12', '2020-13-41T00:00:00Z'])('is not paused by what is no time: %j', async (value) => {
    const { create, calls, runner } = await paused();
    await create('one', { metadata: { annotations: { [ANNOTATION]: value } } });
    expect(calls).toContain('made');
    expect(runner.output).toMatch(
      /Annotation "kopf.zalando.org\/paused-until" is not a valid time, so it does not pause the object/,
    );
  });

  it('is not paused by a time that is over', async () => {
    const { create, calls } = await paused();
    await create('one', { metadata: { annotations: { [ANNOTATION]: '2019-01-01T00:00:00Z' } } });
    expect(calls).toContain('made');
  });

  it('is listed as paused by the control, and is not resumed by it', async () => {
    const { create, pauseFor, operator, patch, calls } = await paused();
    await create('one');
    await pauseFor(60);
    expect(operator.control.objects({ name: 'one' })).toMatchObject([{ isPaused: true }]);
    operator.control.pause({ name: 'one' });
    operator.control.resume({ name: 'one' });
    await patch('one', { spec: { size: 2 } });
    expect(calls).not.toContain('edited');
  });
});

describe('The annotation is nobody’s change,', () => {
  const extraFields: readonly FieldPath[] = [];
  const body = { metadata: { name: 'one', annotations: { other: 'x' } }, spec: { size: 1 } };
  const annotated = deepCopy(body) as typeof body & { metadata: { annotations: Record<string, string> } };
  annotated.metadata.annotations[ANNOTATION] = '2030-01-01T00:00:00Z';

  it.each([
    ['of Kopf', storage.annotationsDiffBaseStorage(), storage.smartProgressStorage()],
    [
      'of an operator with a prefix of its own',
      storage.annotationsDiffBaseStorage({ prefix: 'example.com' }),
      storage.smartProgressStorage({ prefix: 'example.com' }),
    ],
    ['that keeps all in the status', storage.statusDiffBaseStorage(), storage.statusProgressStorage()],
  ])('by the storages %s', (_, diffbase, progress) => {
    const essence = (of: object): object => progress.clear(diffbase.build({ body: of, extraFields }));
    expect(essence(annotated)).toEqual(essence(body));
  });

  it('and no handler of changes is called for it', async () => {
    const { create, pauseFor, resume, calls } = await paused();
    await create('one');
    await pauseFor(60);
    await resume();
    expect(calls).not.toContain('edited');
  });
});
