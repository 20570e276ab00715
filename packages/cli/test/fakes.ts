/** A command line with nothing behind it: it remembers what it was asked for. */
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { cli } from '../src/cli.js';
import type {
  CliRuntime,
  Explained,
  FreezeChoice,
  LoggingChoice,
  ObjectChoice,
  ReleaseChoice,
  ReleasedObject,
  ResumeChoice,
  RunChoice,
  Terminal,
  WebhooksChoice,
} from '../src/runtime.js';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly logging: readonly LoggingChoice[];
  readonly runs: readonly RunChoice[];
  readonly freezes: readonly FreezeChoice[];
  readonly resumes: readonly ResumeChoice[];
  readonly releases: readonly Omit<ReleaseChoice, 'onObject'>[];
  readonly webhooks: readonly WebhooksChoice[];
  /** Of commands about single objects. */
  readonly objects: readonly ObjectChoice[];
  /** Everything that was asked of the runtime, in that order. */
  readonly calls: readonly string[];
  /** What was logged as a warning. */
  readonly warnings: readonly string[];
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What goes wrong with it. */
  readonly failure?: Error;
  readonly released?: readonly ReleasedObject[];
  readonly configurations?: readonly string[];
  readonly explained?: Explained;
  /** What is explained after that, each a second later; then the person stops it. */
  readonly later?: readonly Explained[];
  /** Whether the object waits for something, or is paused. */
  readonly isWaiting?: boolean;
  readonly resolve?: (specifier: string) => string | undefined;
}

const NOTHING: Explained = {
  title: 'KopfExample default/one',
  findings: [{ reason: 'done', text: 'There is nothing to do for this object.' }],
  handlers: [],
  timeline: [],
  lost: 0,
  operator: undefined,
};

/** Does what the arguments say. */
export async function kopf(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const { env = {}, cwd = '/nowhere', failure, released = [], configurations = [] } = surroundings;
  const { explained = NOTHING, later = [], isWaiting = true } = surroundings;
  const explanations = [explained, ...later];
  let stop = (): void => {};
  const out: string[] = [];
  const err: string[] = [];
  const made = {
    logging: [] as LoggingChoice[],
    runs: [] as RunChoice[],
    freezes: [] as FreezeChoice[],
    resumes: [] as ResumeChoice[],
    releases: [] as Omit<ReleaseChoice, 'onObject'>[],
    webhooks: [] as WebhooksChoice[],
    objects: [] as ObjectChoice[],
    calls: [] as string[],
    warnings: [] as string[],
  };
  const call = (name: string): void => {
    made.calls.push(name);
    if (failure !== undefined && name !== 'configure') throw failure;
  };
  const runtime: CliRuntime = {
    version: '1.2.3',
    command: ['kopf'],
    configure(options) {
      call('configure');
      made.logging.push(options);
      const logger = recordingLogger();
      return {
        ...logger,
        warn: (message) => void made.warnings.push(message),
        error: (message) => void err.push(`${JSON.stringify({ message })}\n`),
      };
    },
    warmUp: () => call('warmUp'),
    async run(options) {
      call('run');
      made.runs.push(options);
      return 0;
    },
    async freeze(options) {
      call('freeze');
      made.freezes.push(options);
      return { identity: 'me@here', peerings: [`'${options.name}' cluster-wide`] };
    },
    async resume(options) {
      call('resume');
      made.resumes.push(options);
      return { identity: 'me@here', peerings: [`'${options.name}' cluster-wide`] };
    },
    async why(options) {
      call('why');
      made.objects.push(options);
      const [next = explained] = explanations.splice(0, 1);
      if (explanations.length === 0) stop();
      return next;
    },
    async retry(options) {
      call('retry');
      made.objects.push(options);
      return isWaiting;
    },
    async pauseObject(options) {
      call('pauseObject');
      made.objects.push(options);
      return new Date('2030-01-01T00:00:00Z');
    },
    async resumeObject(options) {
      call('resumeObject');
      made.objects.push(options);
      return isWaiting;
    },
    async release({ onObject, ...options }) {
      call('release');
      made.releases.push(options);
      for (const object of released) onObject(object);
    },
    async releaseWebhooks(options) {
      call('releaseWebhooks');
      made.webhooks.push(options);
      return configurations;
    },
    async localCluster() {
      call('localCluster');
      throw new Error('There is no cluster here.');
    },
    clock: () => ({ ...manualClock(), sleep: async () => undefined }),
    resolve: surroundings.resolve ?? (() => undefined),
  };
  const terminal: Terminal = {
    env,
    cwd,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    style: (_form, text) => text,
    onEnter: () => undefined,
    onSignal(listener) {
      stop = () => listener('SIGINT');
      return () => {};
    },
    exit: () => {},
  };
  const code = await cli(runtime, terminal).main(args);
  return { code, out: out.join(''), err: err.join(''), ...made };
}
