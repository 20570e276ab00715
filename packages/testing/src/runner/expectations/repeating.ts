/** Whether handlers can be called twice for the same state: after a crash at the wrong moment, they are. */
import { AssertionError } from 'node:assert';
import {
  type Clock,
  createRegistry,
  type FactOf,
  getDefaultRegistry,
  KopfError,
  type KubeClient,
  type Logger,
  type ObservedObject,
  type Observer,
  type Registry,
  type Settings,
} from '@kopf-ts/core';
import type { RunnableOperator, RunnableOptions } from '../../operator-runner.js';
import { recordingLogger } from '../../recording-logger.js';
import { endsWithin, isManual, passUntil } from '../stopping.js';
import { type ChangeWatch, watchChanges } from './changes.js';
import { titleOf } from './objects.js';
import { type History, rewound } from './rewinding.js';

export interface RepeatingParts<Options extends RunnableOptions> {
  operator(options: Options): RunnableOperator;
  /** As it was started with, all that the runner has added included. */
  readonly options: Options;
  /** The settings with their storages, also if none are given. */
  readonly settings: (given: Settings | undefined) => Settings;
  readonly clock: Clock;
  readonly client: KubeClient;
  readonly past: History;
  settled(): Promise<void>;
  why(object: ObservedObject): string | undefined;
}

/** Runs another operator with the same handlers, which has forgotten how the last handling of each object has ended. */
export async function expectIdempotent<Options extends RunnableOptions>(
  first: RunnableOperator,
  parts: RepeatingParts<Options>,
): Promise<void> {
  const { client, past, settled, why } = parts;
  if (first.control === undefined) {
    throw new KopfError(
      'Only operators with a `control` can be paused, so that another one calls their handlers again.',
      {
        code: 'KOPF_NO_CONTROL',
      },
    );
  }
  await settled();
  first.control.pause();
  const settings = rewound(parts.settings(parts.options.settings), past);
  try {
    await settled();
    const changes = watchChanges(client, settings.persistence);
    const calls = await callsAgain(parts, settings, changes);
    if (calls.length === 0) throw nothingShown();
    const problems = [...lastOf(calls).flatMap(failureOf), ...(await changes.changes())];
    if (problems.length > 0) throw notIdempotent(problems, calls, why);
  } finally {
    first.control.resume();
    await settled();
  }
}

function nothingShown(): KopfError {
  return new KopfError('No handler was called again, so nothing is shown: let the operator handle something before.', {
    code: 'KOPF_NOTHING_TO_REPEAT',
  });
}

function notIdempotent(
  problems: readonly string[],
  calls: readonly Ended[],
  why: (object: ObservedObject) => string | undefined,
): AssertionError {
  const culprit = (lastOf(calls).find(({ outcome }) => outcome !== 'succeeded') ?? calls[0])?.object;
  const reason = culprit && why(culprit);
  return new AssertionError({
    message: [
      'The handlers are not idempotent. They were called once more for the same state, and:',
      ...problems.map((problem) => `  - ${problem}`),
      `Called again: ${[...new Set(calls.map(shown))].join(', ')}.`,
      ...(reason === undefined ? [] : ['', reason]),
    ].join('\n'),
    stackStartFn: expectIdempotent,
  });
}

type Ended = FactOf<'call.ended'>;

/** Runs the other operator until there is nothing left to do for it. */
async function callsAgain<Options extends RunnableOptions>(
  { operator: newOperator, options, clock, settled }: RepeatingParts<Options>,
  settings: Settings,
  { client }: ChangeWatch,
): Promise<readonly Ended[]> {
  const calls: Ended[] = [];
  let activity = 0;
  const observer: Observer = {
    wants: ['call.began', 'call.ended', 'patch.sent', 'object.cause'],
    observe(fact) {
      activity += 1;
      if (fact.kind === 'call.ended' && fact.object !== undefined) calls.push(fact);
    },
  };
  const logger: Logger = recordingLogger();
  const again = newOperator({
    ...alone(options),
    registry: withoutWebhooks(options.registry ?? getDefaultRegistry()),
    identity: `${options.identity ?? 'runner'}-again`,
    settings,
    client,
    logger,
    observers: [observer],
  });
  const ended = again.done.catch(() => {});
  try {
    await again.ready;
    await settled();
    const deadline = clock.now() + (isManual(clock) ? RETRIES : RETRIES_FOR_REAL);
    // How it is with real time: a moment of silence has to do.
    const isSilent = (known: number): boolean => isManual(clock) || known === activity;
    for (let known = -1; !(isSilent(known) && !isRetried(calls)) && clock.now() < deadline; ) {
      known = activity;
      await passUntil(deadline, clock);
      await settled();
    }
  } finally {
    again.stop().catch(() => {});
    await endsWithin(ended, undefined, clock);
  }
  return calls;
}

/** So long it may take until all handlers are done. */
const [RETRIES, RETRIES_FOR_REAL] = [600, 30] as const;

/** The last one of each handler of each object. */
function lastOf(calls: readonly Ended[]): readonly Ended[] {
  return [...new Map(calls.map((call) => [shown(call), call])).values()];
}

function isRetried(calls: readonly Ended[]): boolean {
  return lastOf(calls).some(({ outcome }) => outcome === 'retried');
}

/** There is nobody to agree with, and no address to share; what belongs to the first operator is made anew. */
const NOT_SHARED: ReadonlySet<string> = new Set([
  ...['peering', 'peeringName', 'priority', 'indexer', 'scheduler', 'signal'],
  ...['liveness', 'metrics', 'admin', 'console', 'httpEndpoint'],
]);

function alone<Options extends RunnableOptions>(options: Options): Options {
  const shared = Object.entries(options).filter(([name]) => !NOT_SHARED.has(name));
  return { ...(Object.fromEntries(shared) as unknown as Options), standalone: true };
}

/** The first operator still answers the reviews. */
// biome-ignore lint/suspicious/noExplicitAny: an operator runs handlers of any environment alike
function withoutWebhooks(registry: Registry<any>): Registry<any> {
  return { ...registry, handlers: { ...registry.handlers, webhooks: createRegistry().handlers.webhooks } };
}

function failureOf({ handler, object, outcome, error }: Ended): readonly string[] {
  if (outcome === 'succeeded') return [];
  const of = object === undefined ? '' : ` of ${titleOf(object)}`;
  return [
    `the handler '${handler.id}'${of} has ${outcome === 'failed' ? 'failed' : 'to be retried'}: ${error?.message ?? ''}`,
  ];
}

function shown({ handler, object }: Ended): string {
  return `'${handler.id}'${object === undefined ? '' : ` of ${titleOf(object)}`}`;
}
