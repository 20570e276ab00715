import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it } from 'vitest';
import { RegistrationError } from '../../src/errors.js';
import type { AnyHandler } from '../../src/intents/handlers.js';
import type { Change, Daemon } from '../../src/intents/kwargs.js';
import { createRegistry, type Registry } from '../../src/intents/registration/registry.js';
import { activityCause, changingCause, someBody } from '../causation/make-causes.js';

function handlersOf({ handlers }: Registry): AnyHandler[] {
  return Object.values(handlers).flatMap((family): AnyHandler[] => [...family]);
}

const idsOf = (registry: Registry): string[] => handlersOf(registry).map(({ id }) => id);
const resultsOf = (registry: Registry, kwargs: object = {}): unknown[] =>
  handlersOf(registry).map(({ fn }) => fn(kwargs));

describe('decorated methods', () => {
  it('become handlers when their class is constructed', () => {
    const registry = createRegistry();
    class Volumes {
      readonly prefix: string;
      constructor(prefix: string) {
        this.prefix = prefix;
      }

      @registry.on.create('volumes', { retries: 3 })
      provision({ name }: Pick<Change, 'name'>) {
        return this.prefix + name;
      }

      @registry.daemon('volumes')
      monitor({ name }: Pick<Daemon, 'name'>) {
        return `${this.prefix}monitor-${name}`;
      }

      @registry.on.startup()
      start() {
        return `${this.prefix}start`;
      }
    }
    expect(idsOf(registry)).toEqual([]);
    const volumes = new Volumes('vol-');
    expect(idsOf(registry)).toEqual(['Volumes.start', 'Volumes.monitor', 'Volumes.provision']);
    expect(resultsOf(registry, { name: 'x' })).toEqual(['vol-start', 'vol-monitor-x', 'vol-x']);
    expect([...registry.handlers.changing]).toMatchObject([{ kind: 'change', reason: 'create', retries: 3 }]);
    expect(() => registry.verify()).not.toThrow();
    // The class itself works as if it were not decorated.
    expect(volumes.provision({ name: 'y' })).toBe('vol-y');
  });

  it('are registered in the order of the methods, and of their decorators from the inner to the outer', () => {
    const registry = createRegistry();
    class Many {
      @registry.on.create('x', { id: 'a2' })
      @registry.on.create('x', { id: 'a1' })
      first() {}

      @registry.on.create('x', { id: 'b' })
      second() {}
    }
    new Many();
    expect(idsOf(registry)).toEqual(['a1', 'a2', 'b']);
  });

  it('are one function if they are decorated several times', () => {
    const registry = createRegistry();
    let calls = 0;
    class Volumes {
      @registry.on.resume('kopfexamples')
      @registry.on.create('kopfexamples')
      ensure() {
        calls += 1;
      }
    }
    new Volumes();
    expect(idsOf(registry)).toEqual(['Volumes.ensure', 'Volumes.ensure']);
    const cause = changingCause(someBody, { reason: 'create', initial: true });
    const selected = registry.handlers.changing.select(cause);
    expect(selected).toHaveLength(1);
    for (const { fn } of selected) fn({});
    expect(calls).toBe(1);
    expect(() => registry.verify()).not.toThrow();
  });

  it('have ids as any other handlers', () => {
    const registry = createRegistry();
    class Volumes {
      @registry.on.create('x', { id: 'given' })
      a1() {}

      @registry.on.field('x', { field: 'spec.size' })
      a2() {}

      @registry.index('x', { field: 'spec.size' })
      a3() {}
    }
    new Volumes();
    expect(idsOf(registry).sort()).toEqual(['Volumes.a2/spec.size', 'Volumes.a3', 'given']);
  });

  it('of a subclass have its name, and behave as they are overridden', () => {
    const registry = createRegistry();
    class Base {
      @registry.on.create('x')
      back() {
        return `base of ${this.whose()}`;
      }

      whose() {
        return 'base';
      }
    }
    class Special extends Base {
      override whose() {
        return 'special';
      }
    }
    class Overriding extends Base {
      override back() {
        return 'overridden';
      }
    }
    new Base();
    new Special();
    new Overriding();
    expect(idsOf(registry)).toEqual(['Base.back', 'Special.back', 'Overriding.back']);
    expect(resultsOf(registry)).toEqual(['base of base', 'base of special', 'overridden']);
    expect(() => registry.verify()).not.toThrow();
  });

  it('overridden and decorated again are still one function', () => {
    const registry = createRegistry();
    class Base {
      @registry.on.create('kopfexamples')
      back() {
        return 'base';
      }
    }
    class Derived extends Base {
      @registry.on.create('kopfexamples')
      override back() {
        return `derived from ${super.back()}`;
      }
    }
    new Derived();
    const selected = registry.handlers.changing.select(changingCause(someBody, { reason: 'create' }));
    expect(selected.map(({ id, fn }) => [id, fn({})])).toEqual([['Derived.back', 'derived from base']]);
    expect(() => registry.verify()).not.toThrow();
  });

  it('can be static, and need no objects then', () => {
    const registry = createRegistry();
    // biome-ignore lint/complexity/noStaticOnlyClass: it is what is being tested
    class Volumes {
      static prefix = 'vol-';

      @registry.on.login()
      static login() {
        return 'token' as never;
      }

      @registry.on.create('x')
      static provision({ name }: Pick<Change, 'name'>) {
        // biome-ignore lint/complexity/noThisInStatic: it is what is being tested
        return this.prefix + name;
      }
    }
    expect(idsOf(registry)).toEqual(['Volumes.login', 'Volumes.provision']);
    expect(resultsOf(registry, { name: 'x' })).toEqual(['token', 'vol-x']);
    expect(() => registry.verify()).not.toThrow();
    expect(Volumes.prefix).toBe('vol-');
  });

  it('can be private', () => {
    const registry = createRegistry();
    class Volumes {
      readonly #prefix = 'vol-';

      @registry.on.create('x')
      @registry.on.update('x')
      #provision({ name }: Pick<Change, 'name'>) {
        return this.#prefix + name;
      }

      call(name: string) {
        return this.#provision({ name });
      }
    }
    const volumes = new Volumes();
    expect(idsOf(registry)).toEqual(['Volumes.provision', 'Volumes.provision']);
    expect(new Set(handlersOf(registry).map(({ fn }) => fn)).size).toBe(1);
    expect(resultsOf(registry, { name: 'x' })).toEqual(['vol-x', 'vol-x']);
    expect(volumes.call('y')).toBe('vol-y');
  });

  it('can be private in a class and in its subclass under the same name', () => {
    const registry = createRegistry();
    class Base {
      @registry.on.create('x')
      #own() {
        return 'base';
      }

      ofBase() {
        return this.#own();
      }
    }
    class Derived extends Base {
      @registry.on.create('x', { id: 'derived' })
      #own() {
        return 'derived';
      }

      ofDerived() {
        return this.#own();
      }
    }
    const derived = new Derived();
    expect(handlersOf(registry).map(({ id, fn }) => [id, fn({})])).toEqual([
      ['Derived.own', 'base'],
      ['derived', 'derived'],
    ]);
    expect([derived.ofBase(), derived.ofDerived()]).toEqual(['base', 'derived']);
  });

  it('can be of a class without a name', () => {
    const registry = createRegistry();
    // By hand: compilers of decorators tend to give names to such classes.
    const initializers: ((this: unknown) => void)[] = [];
    const make = () =>
      class {
        constructor() {
          for (const initialize of initializers) initialize.call(this);
        }
        provision() {
          return this;
        }
      };
    const Nameless = make();
    const context = {
      ...{ kind: 'method', name: 'provision', static: false, private: false, metadata: {} },
      addInitializer: (initialize: (this: unknown) => void) => initializers.push(initialize),
      access: { has: () => true, get: (volumes: InstanceType<typeof Nameless>) => volumes.provision },
    } as unknown as ClassMethodDecoratorContext;
    registry.on.create('x')(Nameless.prototype.provision, context);
    const volumes = new Nameless();
    expect(idsOf(registry)).toEqual(['provision']);
    expect(resultsOf(registry)).toEqual([volumes]);
  });

  it('can be of a class with a name of its own', () => {
    const registry = createRegistry();
    class Volumes {
      static name = 5 as never;

      @registry.on.create('x')
      provision() {}
    }
    new Volumes();
    expect(idsOf(registry)).toEqual(['provision']);
  });

  it('fail as the methods do', async () => {
    const registry = createRegistry();
    class Volumes {
      @registry.on.startup()
      sync(): void {
        throw new Error('at once');
      }

      @registry.on.cleanup()
      async async() {
        throw new Error('later');
      }
    }
    new Volumes();
    const [sync] = registry.handlers.activities.select(activityCause({ activity: 'startup' }));
    const [async] = registry.handlers.activities.select(activityCause({ activity: 'cleanup' }));
    expect(() => sync?.fn({})).toThrow('at once');
    await expect(async?.fn({})).rejects.toThrow('later');
  });

  it('of minified classes are warned of', () => {
    const registry = createRegistry();
    class V {
      @registry.on.create('x')
      provision() {}

      @registry.on.create('x', { id: 'given' })
      other() {}
    }
    class Volumes {
      @registry.on.update('x')
      #p() {}

      p() {
        this.#p();
      }
    }
    new V();
    new Volumes();
    const logger = recordingLogger();
    registry.verify({ logger });
    expect(logger.messages('warn')).toEqual([
      expect.stringMatching(/^Handler 'V\.provision' has a one-letter name/),
      expect.stringMatching(/^Handler 'Volumes\.p' has a one-letter name/),
    ]);
  });
});

describe('classes that cannot work', () => {
  it('are told of before the operator starts, if they are never constructed', () => {
    const registry = createRegistry();
    class Volumes {
      @registry.on.create('volumes')
      provision() {}
    }
    expect(() => registry.verify()).toThrow(RegistrationError);
    expect(() => registry.verify()).toThrow(
      /on\.create\('volumes'\): method "provision" is decorated, but its class is never constructed.*Construct the class once/,
    );
    new Volumes();
    expect(() => registry.verify()).not.toThrow();
  });

  it('are told of if they are constructed twice', () => {
    const registry = createRegistry();
    class Volumes {
      @registry.daemon('volumes')
      monitor() {}
    }
    new Volumes();
    new Volumes();
    expect(() => registry.verify()).toThrow(RegistrationError);
    expect(() => registry.verify()).toThrow(
      /daemon\('volumes'\): the class of method "monitor" is constructed more than once.*"Volumes\.monitor".*Construct it once/,
    );
  });

  it('are told of if the objects of a subclass share an explicit id', () => {
    const registry = createRegistry();
    class Base {
      @registry.on.create('x', { id: 'same' })
      back() {}
    }
    class Derived extends Base {}
    new Base();
    new Derived();
    expect(() => registry.verify()).toThrow(/share the id "same"/);
  });

  it('are fine if only a subclass is constructed', () => {
    const registry = createRegistry();
    abstract class Base {
      @registry.on.create('x')
      back() {}
    }
    class Derived extends Base {}
    new Derived();
    expect(idsOf(registry)).toEqual(['Derived.back']);
    expect(() => registry.verify()).not.toThrow();
  });

  it('do not disturb other registries', () => {
    const [one, another] = [createRegistry(), createRegistry()];
    class Volumes {
      @one.on.create('x')
      provision() {}
    }
    expect(() => another.verify()).not.toThrow();
    expect(() => one.verify()).toThrow(/never constructed/);
    new Volumes();
    expect([idsOf(one), idsOf(another)]).toEqual([['Volumes.provision'], []]);
  });
});

describe('what is wrong at a decorator', () => {
  it('is told when the class is defined', () => {
    const registry = createRegistry();
    expect(() => {
      class Volumes {
        @registry.on.create('volumes', { retries: -1 })
        provision() {}
      }
      return Volumes;
    }).toThrow(/^on\.create\('volumes'\) of provision: retries must be/);
    expect(() => registry.verify()).not.toThrow();
  });

  /** As if it were called by the language. */
  type Applied = (...args: unknown[]) => unknown;
  const context = { kind: 'method', name: 'provision', static: false, private: false, addInitializer() {}, access: {} };
  const { on, daemon } = createRegistry();

  it.each<[string, () => unknown, RegExp]>([
    [
      'no parentheses',
      () => (on.create as Applied)(() => {}, context),
      /^on\.create\(\): as a decorator, it needs parentheses with a selector/,
    ],
    [
      'no parentheses, of a daemon',
      () => (daemon as Applied)(() => {}, context),
      /^daemon\(\): as a decorator, it needs parentheses/,
    ],
    [
      'no parentheses, of an activity',
      () => (on.startup as Applied)(() => {}, context),
      /^on\.startup\(\): as a decorator, it needs parentheses/,
    ],
    [
      'a class',
      () => (on.create('x') as Applied)(class {}, { kind: 'class', name: 'A', addInitializer() {} }),
      /only methods can be decorated/,
    ],
    [
      'a getter',
      () => (on.create('x') as Applied)(() => {}, { ...context, kind: 'getter' }),
      /only methods can be decorated/,
    ],
    [
      'a field',
      () => (on.create('x') as Applied)(undefined, { ...context, kind: 'field' }),
      /only methods can be decorated/,
    ],
    [
      'decorators of old',
      () => (on.create('x') as Applied)({}, 'provision', { value() {} }),
      /only by standard decorators \(no experimentalDecorators/,
    ],
    [
      'static decorators of old',
      () => (on.create('x') as Applied)(class {}, 'provision', { value() {} }),
      /only by standard decorators/,
    ],
    ['a loop over functions', () => [() => {}].map(on.create('x') as Applied), /only methods can be decorated/],
  ])('%s', (_title, apply, message) => {
    expect(apply).toThrow(RegistrationError);
    expect(apply).toThrow(message);
  });
});
