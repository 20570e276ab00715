import { expectTypeOf, it } from 'vitest';
import { type Condition, type Conditions, conditions, createRegistry, resource } from '../../src/index.js';

const { on, daemon, timer } = createRegistry();

interface Status {
  phase?: string;
  conditions?: Condition<'Ready' | 'Synced', 'Fine' | 'Broken'>[];
}
const things = resource<{ size: number }, Status>({ plural: 'things' });
const bare = resource<{ size: number }, { phase?: string }>({ plural: 'things' });

it('types and reasons are those of the status', () => {
  on.create(things, ({ patch, body }) => {
    const all = conditions(patch, body);
    all.set('Ready', true).set('Synced', 'Unknown', { reason: 'Broken', message: 'Oh.' });
    // @ts-expect-error there is no such condition
    all.set('Raedy', true);
    // @ts-expect-error there is no such condition
    all.is('Raedy');
    // @ts-expect-error there is no such reason
    all.set('Ready', true, { reason: 'Nice' });
    // @ts-expect-error it is a boolean
    all.set('Ready', 'True');
    expectTypeOf(all.get('Ready')?.type).toEqualTypeOf<'Ready' | 'Synced' | undefined>();
    expectTypeOf(all.get('Ready')?.status).toEqualTypeOf<'True' | 'False' | 'Unknown' | undefined>();
    expectTypeOf(all.is('Ready')).toEqualTypeOf<boolean>();
    // @ts-expect-error it is only read
    [...all][0].status = 'True';
  });
});

it('without them in the type of the status, any will do', () => {
  on.update('things', ({ patch, body }) => {
    expectTypeOf(conditions(patch, body)).toEqualTypeOf<Conditions>();
  });
  on.event(bare, ({ patch, body }) => {
    expectTypeOf(conditions(patch, body)).toEqualTypeOf<Conditions>();
  });
  daemon(resource({ plural: 'things' }), ({ patch, body }) => {
    conditions(patch, body).set('Anything', false);
  });
  timer(things, { interval: 1 }, ({ patch, body }) => {
    conditions(patch, body).set('Ready', false);
  });
});

it('types of others will do as well', () => {
  interface PodCondition {
    type: string;
    status: string;
    lastProbeTime?: string;
  }
  const pods = resource<object, { conditions?: PodCondition[] }>({ plural: 'pods' });
  on.event(pods, ({ patch, body }) => {
    expectTypeOf(conditions(patch, body).get('Ready')?.lastProbeTime).toEqualTypeOf<string | undefined>();
    conditions(patch, body).set('Anything', false, { reason: 'Any' });
  });
});
