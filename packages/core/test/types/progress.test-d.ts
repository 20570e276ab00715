import { expectTypeOf, it } from 'vitest';
import {
  type Change,
  createRegistry,
  execute,
  type HandlerProgress,
  oneByOne,
  type Progress,
  resource,
  type SubhandlerFns,
} from '../../src/index.js';

const { on, daemon } = createRegistry();
const things = resource<{ size: number }>({ plural: 'things' });

it('change handlers get the progress of others, and whether it is their first look', () => {
  on.update(things, ({ progress, initial }) => {
    expectTypeOf(progress).toEqualTypeOf<Progress>();
    expectTypeOf(progress.get('other')).toEqualTypeOf<HandlerProgress | undefined>();
    expectTypeOf(initial).toEqualTypeOf<boolean>();
    // @ts-expect-error it is only read
    progress.set('other', undefined);
  });
  // @ts-expect-error their progress is not stored
  daemon(things, ({ progress }) => void progress);
  // @ts-expect-error it is of the event
  on.event(things, ({ initial }) => void initial);
});

it('resuming of unmodified objects only', () => {
  on.resume(things, { only: 'unmodified' }, () => {});
  // @ts-expect-error it is for resuming
  on.update(things, { only: 'unmodified' }, () => {});
  // @ts-expect-error there is nothing else to choose
  on.resume(things, { only: 'modified' }, () => {});
});

it('functions to execute know what they get', () => {
  void execute({
    fns: {
      a: ({ spec, progress }) => {
        expectTypeOf(spec).toEqualTypeOf<Change['spec']>();
        expectTypeOf(progress).toEqualTypeOf<Progress>();
      },
      async b({ name }) {
        expectTypeOf(name).toEqualTypeOf<string>();
      },
    },
    lifecycle: oneByOne,
  });
  void execute({ a: ({ retry }) => void retry.toFixed() });
  void execute([
    function named({ logger }) {
      logger.info('!');
    },
  ]);
  void execute();
});

it('functions that are written for a kind can be executed', () => {
  const resize = ({ spec }: Change<typeof things>): void => {
    expectTypeOf(spec.size).toEqualTypeOf<number>();
  };
  const fns: SubhandlerFns<typeof things> = { resize };
  void execute({ fns: { resize }, lifecycle: oneByOne });
  void execute({ resize });
  void execute([resize]);
  void execute({ fns });
  void execute<{ spec: { size: number } }>({
    fns: { a: ({ spec }) => expectTypeOf(spec.size).toEqualTypeOf<number>() },
  });
});

it('what is no function is told where it is', () => {
  void execute({
    // @ts-expect-error it is no function
    fns: { a: 5 },
    lifecycle: oneByOne,
  });
  void execute({
    fns: { a: () => {} },
    // @ts-expect-error there is no such lifecycle
    lifecycle: 'oneByOne',
  });
});
