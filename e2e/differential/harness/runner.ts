import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openStream, type PlainRequest, type Stream, send } from './http.js';
import { mapTexts, valueAt, withoutKeys } from './paths.js';
import type { Answer, RequestStep, Sequence, Step } from './sequence.js';
import type { Target } from './targets.js';
import type { RunHooks, WebhookServer } from './webhooks.js';

/** One step, and what came of it. */
export interface Exchange {
  /** For people: what was sent, before the names were replaced. */
  readonly step: string;
  readonly answer: unknown;
}

/** What one run of a sequence has given, with what is needed to make it comparable with another run. */
export interface Trace {
  readonly exchanges: readonly Exchange[];
  /** Of all steps, also of those that are not compared: they have versions in them, too. */
  readonly answers: readonly unknown[];
  /** The token of this run: it is in all the names that the run has used. */
  readonly id: string;
  /** Texts of this run and their names; for addresses and the like. */
  readonly names: ReadonlyMap<string, string>;
  /** What the run has sent as `generateName`. */
  readonly prefixes: readonly string[];
  readonly causesComeInAnyOrder: boolean;
}

/** A token for one run; the same one may be used once on each server. */
export const newRunId = (): string => `r${randomBytes(4).toString('hex')}`;

const repeatsForMs = 30_000;

export interface RunOptions {
  /** Waits until the namespace of the run is as its steps need it. */
  ready?(target: Target, namespace: string): Promise<void>;
}

/** Runs a sequence on a server. */
export async function run(
  sequence: Sequence,
  target: Target,
  webhooks: WebhookServer,
  id: string,
  { ready }: RunOptions = {},
): Promise<Trace> {
  const runHooks = webhooks.register(id, sequence.hooks ?? {});
  const variables = new Map([
    ['id', id],
    ['ns', `ns-${id}`],
    ['group', `${id}.example.com`],
    ['ca', webhooks.caBundle],
  ]);
  for (const name of Object.keys(sequence.hooks ?? {})) variables.set(`hook:${name}`, `${webhooks.url}/${id}/${name}`);
  const context: Context = { target, variables, streams: new Map(), runHooks };
  const exchanges: Exchange[] = [];
  const answers: unknown[] = [];
  try {
    if (needsNamespace(sequence)) {
      await createNamespace(context);
      await ready?.(target, `ns-${id}`);
    }
    for (const step of sequence.steps) {
      const answer = await perform(step, context);
      if (sequence.hooks !== undefined && step.do === 'request') await untilNoticed(step, answer as Answer, context);
      answers.push(answer);
      if (isCompared(step)) exchanges.push({ step: describeStep(step), answer: comparedPart(step, answer) });
    }
  } finally {
    for (const stream of context.streams.values()) stream.close();
    if (sequence.hooks !== undefined) await removeRegistrations(context);
  }
  const names = new Map([
    [webhooks.url, '<hooks>'],
    [webhooks.url.replace('https://', ''), '<hooks>'],
    [webhooks.caBundle, '<ca>'],
    [target.url, '<server>'],
    [new URL(target.url).host, '<address>'],
  ]);
  const prefixes = sequence.steps.flatMap((step) => prefixIn(step)).map((prefix) => filled(prefix, context));
  return { exchanges, answers, id, names, prefixes, causesComeInAnyOrder: sequence.causesComeInAnyOrder === true };
}

interface Context {
  readonly target: Target;
  readonly variables: Map<string, string>;
  readonly streams: Map<string, Stream>;
  readonly runHooks: RunHooks;
}

function needsNamespace({ steps }: Sequence): boolean {
  return JSON.stringify(steps).includes('<ns>');
}

function prefixIn(step: Step): string[] {
  const prefix = step.do === 'request' ? valueAt(step.body, 'metadata.generateName') : undefined;
  return typeof prefix === 'string' && prefix !== '' ? [prefix] : [];
}

async function createNamespace({ target, variables }: Context): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: variables.get('ns') } });
  const headers = { 'content-type': 'application/json' };
  const answer = await send(target, { method: 'POST', path: '/api/v1/namespaces', headers, body });
  if (answer.status !== 201) throw new Error(`No namespace on ${target.name}: ${JSON.stringify(answer)}`);
}

/**
 * The real server tries updates on what its cache has, asks the webhooks, and does it again if the cache was behind.
 * So that they are asked once, the cache is to be up to date before the next step.
 */
async function untilNoticed(step: RequestStep, { status, body }: Answer, context: Context): Promise<void> {
  const version = valueAt(body, 'metadata.resourceVersion');
  if (step.method === 'GET' || status >= 300 || version === undefined || step.path.includes('dryRun')) return;
  const path = filled(step.path, context).replace(/\?.*$/, '');
  await send(context.target, { method: 'GET', path: `${path}?resourceVersion=${version}`, headers: {} });
}

/** Webhooks that are never called again would still slow everybody down. */
async function removeRegistrations({ target, variables }: Context): Promise<void> {
  for (const kind of ['validating', 'mutating']) {
    const collection = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
    await send(target, { method: 'DELETE', path: `${collection}/${variables.get('id')}`, headers: {} });
  }
}

async function perform(step: Step, context: Context): Promise<unknown> {
  switch (step.do) {
    case 'request':
      return repeat(step, context);
    case 'watch': {
      const path = filled(step.path, context);
      const stream = await openStream(context.target, { method: 'GET', path, headers: step.headers ?? {} });
      context.streams.set(step.as, stream);
      return undefined;
    }
    case 'events': {
      const stream = context.streams.get(step.of);
      if (stream === undefined) throw new Error(`Nothing is watched as ${step.of}.`);
      const collected = await stream.collect(step.count);
      return { ...stream.head, ...collected };
    }
    case 'compact':
      return context.target.compact();
    case 'reviews':
      return context.runHooks.take(step.of);
    case 'hooked': {
      const isCalled = () => context.runHooks.take(step.by).length > 0;
      await repeat({ ...step.probe, until: isCalled }, context);
      return undefined;
    }
  }
}

function isCompared(step: Step): boolean {
  return step.do === 'request' || step.do === 'events' || step.do === 'reviews';
}

function comparedPart(step: Step, answer: unknown): unknown {
  if (step.do !== 'request') return answer;
  if (step.isPreparation === true) return { status: (answer as Answer).status };
  return step.except === undefined ? answer : withoutKeys(answer, step.except);
}

/** Once, or until the answer is good; the last answer is the answer, good or not. */
async function repeat(step: RequestStep, context: Context): Promise<Answer> {
  const deadline = performance.now() + repeatsForMs;
  const body = step.body === undefined ? undefined : mapTexts(step.body, (text) => filled(text, context));
  const plain = {
    method: step.method,
    path: filled(step.path, context),
    headers: mapTexts(step.headers, (text) => filled(text, context)) as RequestStep['headers'],
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  for (;;) {
    const answer = await sendWithin(context.target, plain);
    const isGood = !isStarting(answer) && (step.until?.(answer) ?? true);
    if (isGood || performance.now() > deadline) {
      save(step, answer, context);
      return answer;
    }
    await pause(40);
  }
}

/**
 * When the time that a client has given is over, the real server closes the connection without an answer if the handler
 * has begun with its own at the same moment (`panic(http.ErrAbortHandler)` in its filter for timeouts). A client would
 * ask again, and so does this one.
 */
async function sendWithin(target: Target, plain: PlainRequest): Promise<Answer> {
  const mayBeCutOff = /[?&]timeout=\d/.test(plain.path);
  for (let left = mayBeCutOff ? 5 : 0; ; left -= 1) {
    try {
      return await send(target, plain);
    } catch (error) {
      if (left === 0 || !String(error).includes('socket hang up')) throw error;
    }
  }
}

/** The real server prepares the storage of a new kind when it is asked for the first time. */
function isStarting({ status, body }: Answer): boolean {
  return status === 429 && String(valueAt(body, 'message')).includes('storage is (re)initializing');
}

function save(step: RequestStep, answer: Answer, { variables }: Context): void {
  for (const [name, path] of Object.entries(step.save ?? {})) {
    const value = valueAt(answer.body, path);
    if (value !== undefined) variables.set(name, String(value));
  }
}

function filled(text: string, { variables }: Context): string {
  return text.replace(/<([\w:-]+)>/g, (whole, name: string) => variables.get(name) ?? whole);
}

function describeStep(step: Step): string {
  switch (step.do) {
    case 'request':
      return `${step.method} ${step.path.length > 160 ? `${step.path.slice(0, 160)}…` : step.path}`;
    case 'watch':
      return `watch ${step.path}`;
    case 'events':
      return `events of ${step.of}`;
    case 'reviews':
      return `reviews of ${step.of}`;
    case 'compact':
    case 'hooked':
      return step.do;
  }
}
