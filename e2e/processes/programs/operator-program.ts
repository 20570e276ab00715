/** A program with operators, as users write them. Its argument tells in JSON which of them, and for what. */
import { type ConnectionInfo, createRegistry, operator, type Registry, run, settings } from 'kopf-ts';

export interface ProgramOptions {
  readonly program: keyof typeof programs;
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
  /** What differs from one run to another. */
  readonly variant?: string;
}

const options = JSON.parse(process.argv[2] ?? '{}') as ProgramOptions;
const { connection, selector, namespace, variant } = options;
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const forever = (): Promise<never> => new Promise(() => {});

function newRegistry(): Registry {
  const registry = createRegistry();
  registry.on.login(function login() {
    return connection;
  });
  return registry;
}

const common = { namespaces: [namespace], standalone: true };

const programs = {
  /** Three steps, of which the second does not end in the first run. */
  async steps() {
    const registry = newRegistry();
    const { on } = registry;
    on.startup(() => say('started'));
    on.create(selector, function first({ retry }) {
      say(`first ${retry}`);
      return 'first is done';
    });
    on.create(selector, async function second({ retry, started }) {
      say(`second ${retry} ${started.toISOString()}`);
      if (variant === 'hanging') await forever();
      return 'second is done';
    });
    on.create(selector, function third({ retry }) {
      say(`third ${retry}`);
    });
    await run({ ...common, registry });
  },

  /** Whatever can hang, hangs. */
  async hanging() {
    const registry = newRegistry();
    const { on, daemon } = registry;
    if (variant === 'handler') {
      on.create(selector, async function stuck() {
        say('hanging');
        await forever();
      });
    } else {
      daemon(selector, { cancellationBackoff: 0.1, cancellationTimeout: 0.5 }, async function stuck() {
        say('hanging');
        await forever();
      });
    }
    on.cleanup(() => say('cleaned up'));
    await run({ ...common, registry, settings: settings({ process: { ultimateExitingTimeout: 8 } }) });
  },

  /** A handler that leaves an error behind. */
  async stray() {
    const registry = newRegistry();
    registry.on.create(selector, function careless() {
      setTimeout(() => {
        throw new Error('Nobody catches this.');
      }, 10);
    });
    registry.on.cleanup(() => say('cleaned up'));
    const onStray = variant === 'log' ? 'log' : 'exit';
    await run({ ...common, registry, settings: settings({ process: { onStray } }) });
  },

  /** Two operators that are stopped; and nothing keeps the process alive but themselves. */
  async stopped() {
    const operators = ['one', 'two'].map((title) => {
      const registry = newRegistry();
      const when = ({ name }: { readonly name: string }): boolean => name === title;
      registry.on.create(selector, { id: 'create', when }, () => say(`${title} is created`));
      registry.daemon(selector, { id: 'daemon', when }, async ({ stopped }) => {
        await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
        say(`${title} is left`);
      });
      registry.timer(selector, { id: 'timer', when, interval: 600 }, () => say(`${title} ticks`));
      return operator({ ...common, registry });
    });
    await Promise.all(operators.map(({ ready }) => ready));
    say('ready');
    await new Promise<void>((resolve) => process.stdin.once('data', () => resolve()));
    process.stdin.destroy();
    await Promise.all(operators.map((one) => one.stop()));
    say('stopped');
  },
};

await programs[options.program]();
