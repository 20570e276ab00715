/** Plays a scenario from its beginning until all is quiet, and keeps the whole history of it. */
import {
  type AnyObject,
  type Api,
  allAtOnce,
  asap,
  createRegistry,
  type DiffBaseStorage,
  deepCopy,
  type Logger,
  settings as makeSettings,
  oneByOne,
  type PatchFn,
  type ProgressStorage,
  type Registry,
  type Settings,
  subhandler,
  TemporaryError,
} from '@kopf-ts/core';
import { makeResource, untilAborted } from '@kopf-ts/core/engine';
import {
  annotationsDiffBaseStorage,
  annotationsProgressStorage,
  statusDiffBaseStorage,
  statusProgressStorage,
} from '@kopf-ts/storage';
import { manualClock } from '@kopf-ts/testing';
import { startEngine } from './engine.js';
import { type Life, newLife } from './life.js';
import { type ModelServer, modelServer, type SentPatch, type Write } from './model-server.js';
import {
  applyEdit,
  type Deed,
  deedOf,
  type Edit,
  fieldOf,
  type HandlerKind,
  type HandlerSpec,
  handlerName,
  isDone,
  merge,
  type Scenario,
  subName,
} from './scenario.js';

/** One call of one handler. */
export interface Call {
  readonly kind: 'call';
  readonly seq: number;
  readonly at: number;
  readonly process: number;
  readonly handler: string;
  readonly of: HandlerKind | 'sub';
  readonly parent?: string;
  readonly deeds: readonly Deed[];
  readonly uid: string;
  readonly retry: number;
  readonly reason: string | undefined;
  readonly version: number;
  readonly body: AnyObject;
  outcome: 'running' | 'failed' | 'succeeded';
  endSeq: number;
}

/** The operator ends at once, in the middle of whatever it does. */
interface Kill {
  readonly kind: 'kill';
  readonly seq: number;
}

/** Our marks were removed by others. */
interface Stripping {
  readonly kind: 'strip';
  readonly seq: number;
}

export interface History {
  readonly scenario: Scenario;
  readonly writes: readonly Write[];
  readonly patches: readonly SentPatch[];
  readonly calls: readonly Call[];
  readonly kills: readonly Kill[];
  readonly strippings: readonly Stripping[];
  /** The end of it; absent if the object is gone. */
  readonly final: AnyObject | undefined;
  /** Why it was given up, if it was. */
  readonly unrest: string | undefined;
  readonly storages: Storages;
  readonly rewritten: (object: AnyObject) => AnyObject;
  readonly warnings: readonly string[];
  readonly isHandled: (object: AnyObject | undefined) => boolean;
}

export interface Storages {
  readonly progress: ProgressStorage;
  readonly diffbase: DiffBaseStorage;
}

const RESOURCE = makeResource({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
  kind: 'KopfExample',
  singular: 'kopfexample',
  shortcuts: ['kex'],
  namespaced: true,
  verbs: ['list', 'watch', 'patch'],
});
const RESOURCE_WITH_STATUS = makeResource({ ...RESOURCE, subresources: ['status'] });

const LIFECYCLES = { asap, oneByOne, allAtOnce };

const MAX_CALLS = 300;
const MAX_PATCHES = 400;
/** Longer than any delay that a scenario can ask for, and than the pauses of the settings below. */
const QUIET_SECONDS = 11;
const PORTION = 11;
/** By then, whatever is slowed down by the framework itself must have happened, too. */
const PATIENCE_SECONDS = 1800;
const LATER_SECONDS = 33;

export type Judge = (object: AnyObject | undefined) => boolean;

export async function play(
  scenario: Scenario,
  judgeOf: (scenario: Scenario, storages: Storages) => Judge,
): Promise<History> {
  const clock = manualClock();
  const calls: Call[] = [];
  const kills: Kill[] = [];
  const strippings: Stripping[] = [];
  const warnings: string[] = [];
  let seq = 0;
  let points = 0;
  let isOverdone = false;
  /** Calls that are not of timers: these go on for ever. */
  let worthwhile = 0;
  let life: Life | undefined;
  const nextSeq = (): number => ++seq;

  const storages = storagesFor(scenario);
  const isHandled = judgeOf(scenario, storages);
  const editsAt = new Map<number, Edit[]>();
  for (const { at, edit } of scenario.edits ?? []) editsAt.set(at, [...(editsAt.get(at) ?? []), edit]);
  const cutsAt = new Set(scenario.cuts);
  const killsAt = new Set(scenario.kills);

  const point = async (): Promise<void> => {
    const here = points++;
    for (const edit of editsAt.get(here) ?? []) perform(edit);
    if (cutsAt.has(here)) server.cutStreams();
    if (killsAt.has(here)) kill();
    await Promise.resolve();
  };

  const kill = (): void => {
    if (life === undefined || life.isOver) return;
    kills.push({ kind: 'kill', seq: nextSeq() });
    life.end();
    start();
  };

  const { refusal } = scenario;
  let refusingSince: number | undefined;
  const refuses = (before: AnyObject, after: AnyObject) => {
    if (refusal === undefined) return undefined;
    const isHit = refusal.handler === 'all' || deedsAreNew(refusal.handler, before, after);
    if (!isHit) return undefined;
    refusingSince ??= clock.now();
    return clock.now() < refusingSince + refusal.seconds ? refusal.how : undefined;
  };
  const deedsAreNew = (handler: number, before: AnyObject, after: AnyObject): boolean => {
    const index = handler % scenario.handlers.length;
    const spec = scenario.handlers[index] as HandlerSpec;
    const name = handlerName(spec, index);
    const isIn = (object: AnyObject): boolean =>
      (spec.deeds ?? []).length > 0 && (spec.deeds ?? []).every((deed) => isDone(deed, name, object, server.rewritten));
    return !isIn(before) && isIn(after);
  };

  const server: ModelServer = modelServer({
    clock,
    hasStatus: scenario.hasStatus ?? false,
    rewriting: scenario.rewriting ?? {},
    faults: new Map((scenario.faults ?? []).map(({ patch, fault }) => [patch, fault])),
    lag: scenario.lag ?? 0,
    late: scenario.late ?? 0,
    latency: scenario.latency ?? 0,
    point,
    nextSeq,
    refuses,
    maxPatches: MAX_PATCHES,
  });

  const create = (): void => {
    const object: AnyObject = { spec: { field: 'v0', other: 0 }, status: { foreign: 0 } };
    for (const [index, spec] of (scenario.startsDone ? scenario.handlers : []).entries()) {
      for (const deed of spec.deeds ?? []) {
        const what = deedOf(deed, handlerName(spec, index));
        if (typeof what === 'function') what(object);
        else merge(object, what);
      }
    }
    server.create(object);
  };

  const perform = (edit: Edit): void => {
    switch (edit.do) {
      case 'delete':
        server.remove();
        break;
      case 'recreate':
        server.remove();
        server.edit((object) => {
          if (object.metadata) object.metadata.finalizers = [];
        });
        create();
        break;
      case 'strip':
        if (server.current() !== undefined) strippings.push({ kind: 'strip', seq: nextSeq() });
        server.edit((object) => applyEdit(edit, scenario, object));
        break;
      default:
        server.edit((object) => applyEdit(edit, scenario, object));
    }
  };

  const logger = quietLogger(warnings);
  let lives = 0;
  const start = (): void => {
    const mine = newLife(++lives);
    life = mine;
    const settings = settingsFor(storages);
    const registry = createRegistry();
    const clockOfLife = mine.clock(clock);
    declare(
      registry,
      scenario,
      async (record, retry, spec, write) => {
        await mine.going();
        const call: Call = { ...record, seq: nextSeq(), at: clock.now(), process: mine.number };
        if (record.of !== 'timer' && ++worthwhile > MAX_CALLS) isOverdone = true;
        if (isOverdone) await new Promise(() => {});
        calls.push(call);
        await point();
        await mine.going();
        if (spec.nap) await clockOfLife.sleep(spec.nap);
        await point();
        await mine.going();
        // Also failed attempts write: it is sent all the same.
        try {
          await write();
        } catch (error) {
          // What is refused or lost is the failure of whoever writes by verbs.
          await mine.going();
          call.outcome = 'failed';
          call.endSeq = nextSeq();
          throw error;
        }
        await mine.going();
        call.outcome = retry < (spec.fails ?? 0) ? 'failed' : 'succeeded';
        call.endSeq = nextSeq();
        if (call.outcome === 'failed') throw new TemporaryError('not yet', { delay: spec.delay ?? 0 });
      },
      clockOfLife,
    );
    startEngine({
      client: mine.client(server),
      registry,
      settings,
      clock: clockOfLife,
      logger,
      lifecycle: LIFECYCLES[scenario.lifecycle ?? 'asap'],
      random: () => 0.5,
      resource: scenario.hasStatus ? RESOURCE_WITH_STATUS : RESOURCE,
    });
  };

  /** Until all is quiet; or the reason why it is not. */
  const isTooMuch = (): string | undefined =>
    server.isFlooded ? `${MAX_PATCHES} PATCHes, and no end` : isOverdone ? `${MAX_CALLS} calls, and no end` : undefined;
  /** In portions, so that a flood is noticed soon. */
  const settle = async (seconds: number): Promise<void> => {
    const until = clock.now() + seconds;
    await clock.settle();
    while (clock.now() < until && isTooMuch() === undefined)
      await clock.advance(Math.min(until - clock.now(), PORTION));
  };
  const activity = (): number => server.patches.length + worthwhile;
  const calm = async (): Promise<string | undefined> => {
    for (let waited = 0, step = QUIET_SECONDS; ; waited += step) {
      const before = activity();
      await settle(step);
      const excess = isTooMuch();
      if (excess !== undefined) return excess;
      const isQuiet = activity() === before && !calls.some(isRunning);
      if (isQuiet && isHandled(server.current())) return undefined;
      // Nothing happens, though it is not done: whatever it waits for, it may take long.
      if (isQuiet) step *= 2;
      if (waited > PATIENCE_SECONDS) return isQuiet ? undefined : `no rest for ${PATIENCE_SECONDS} seconds`;
    }
  };
  const isRunning = (call: Call): boolean =>
    call.outcome === 'running' && call.process === lives && call.of !== 'daemon';

  if (scenario.existsBefore) create();
  start();
  if (!scenario.existsBefore) {
    await settle(0);
    create();
  }
  for (const { second, edit } of scenario.timed ?? []) void clock.sleep(second).then(() => perform(edit));
  if (scenario.killed !== undefined) void clock.sleep(scenario.killed).then(kill);
  let unrest = await calm();
  for (const edit of scenario.later ?? []) {
    if (unrest !== undefined) break;
    perform(edit);
    unrest = await calm();
  }
  // The last change by others may still be on its way.
  if (unrest === undefined && scenario.lag !== undefined) {
    await settle(scenario.lag + 1);
    unrest = await calm();
  }
  if (unrest === undefined) {
    const before = activity();
    await settle(LATER_SECONDS);
    if (activity() !== before) unrest = 'it was quiet, and then something happened without a reason';
  }
  const history: History = {
    scenario,
    writes: server.writes,
    patches: server.patches,
    calls,
    kills,
    strippings,
    final: server.current(),
    unrest,
    storages,
    rewritten: server.rewritten,
    warnings,
    isHandled,
  };
  // Whatever still goes on, goes no further.
  life?.end();
  return history;
}

function storagesFor(scenario: Scenario): Storages {
  return scenario.storage === 'status'
    ? { progress: statusProgressStorage(), diffbase: statusDiffBaseStorage() }
    : { progress: annotationsProgressStorage(), diffbase: annotationsDiffBaseStorage() };
}

/** All pauses are short, so that it is soon quiet; and streams do not end by themselves. */
function settingsFor({ progress, diffbase }: Storages): Settings {
  return makeSettings({
    persistence: { progressStorage: progress, diffbaseStorage: diffbase },
    queueing: { errorDelays: [1, 1, 2] },
    execution: { defaultBackoff: 1 },
    watching: { inactivityTimeout: 1e9, serverTimeout: undefined },
    background: { cancellationPolling: 1 },
  });
}

type Act = (
  record: Omit<Call, 'seq' | 'at' | 'process'>,
  retry: number,
  spec: Pick<HandlerSpec, 'fails' | 'delay' | 'nap'>,
  write: () => void | Promise<void>,
) => Promise<void>;

interface Kwargs {
  readonly body: AnyObject;
  // biome-ignore lint/suspicious/noExplicitAny: written to by names that only the scenario knows
  readonly patch: any;
  readonly retry: number;
  readonly reason?: string;
  readonly stopped?: AbortSignal;
  readonly api: Api;
}

function declare(
  registry: Registry,
  scenario: Scenario,
  act: Act,
  clock: { sleep(s: number): Promise<unknown> },
): void {
  scenario.handlers.forEach((spec, index) => {
    const name = handlerName(spec, index);
    const recordOf = (kwargs: Kwargs): Parameters<Act>[0] => ({
      kind: 'call',
      handler: name,
      of: spec.kind,
      deeds: spec.deeds ?? [],
      ...given(kwargs),
    });
    const fn = async (kwargs: Kwargs): Promise<unknown> => {
      await act(recordOf(kwargs), kwargs.retry, spec, () => writeAll(spec, name, kwargs, scenario));
      (spec.subs ?? []).forEach((sub, number) => {
        const ofSub = subName(name, number);
        subhandler(`sub${number}`, async (inner) => {
          const same = inner as unknown as Kwargs;
          const record = {
            ...recordOf(same),
            handler: ofSub,
            of: 'sub',
            parent: name,
            deeds: sub.deeds ?? [],
          } as const;
          await act(record, same.retry, sub, () => writeAll(sub, ofSub, same, scenario));
          return sub.returns ? { done: ofSub } : undefined;
        });
      });
      return spec.returns ? { done: name } : undefined;
    };
    const options = { id: name };
    const untyped = fn as never;
    switch (spec.kind) {
      case 'create':
        registry.on.create('kopfexamples', options, untyped);
        break;
      case 'update':
        registry.on.update('kopfexamples', options, untyped);
        break;
      case 'resume':
        registry.on.resume('kopfexamples', options, untyped);
        break;
      case 'delete':
        registry.on.delete('kopfexamples', options, untyped);
        break;
      case 'field':
      case 'phase':
        registry.on.field('kopfexamples', { ...options, field: fieldOf(spec.kind) ?? '' }, untyped);
        break;
      case 'timer': {
        const timer = (kwargs: Kwargs) => act(recordOf(kwargs), kwargs.retry, {}, () => tick(spec, kwargs, scenario));
        registry.timer('kopfexamples', { ...options, interval: 1 }, timer as never);
        break;
      }
      case 'daemon': {
        const daemon = async ({ stopped }: Kwargs): Promise<void> => {
          if (stopped !== undefined) await untilAborted(stopped);
          await clock.sleep(spec.nap ?? 0);
        };
        registry.daemon('kopfexamples', options, daemon as never);
        break;
      }
    }
  });
}

/** A timer counts up to three, and then it has no more to say. */
async function tick(spec: HandlerSpec, kwargs: Kwargs, scenario: Scenario): Promise<void> {
  const { body, patch } = kwargs;
  const isOfStatus = spec.deeds?.includes('phase');
  const before = isOfStatus ? body['status']?.ticks : body.metadata?.annotations?.['ticks'];
  const ticks = Math.min(Number(before ?? 0) + 1, 3);
  const what = isOfStatus ? { status: { ticks } } : { metadata: { annotations: { ticks: String(ticks) } } };
  if (!spec.byVerbs) putInto(patch, what);
  // What is there already is left out of patches, but not of what verbs are asked for.
  else if (Number(before ?? 0) < ticks) await writeByVerbs(what, kwargs, scenario);
}

/** All that it is to write: by its patch, or by verbs. */
async function writeAll(
  { deeds = [], byVerbs = false }: Pick<HandlerSpec, 'deeds' | 'byVerbs'>,
  name: string,
  kwargs: Kwargs,
  scenario: Scenario,
): Promise<void> {
  for (const deed of deeds) {
    const what = deedOf(deed, name);
    if (typeof what === 'function') kwargs.patch.fns.push(what as PatchFn);
    else if (byVerbs) await writeByVerbs(what, kwargs, scenario);
    else putInto(kwargs.patch, what);
  }
}

async function writeByVerbs(what: AnyObject, { api, body }: Kwargs, { hasStatus }: Scenario): Promise<void> {
  const examples = api('kopfexamples');
  const verbs = hasStatus && what['status'] !== undefined ? examples.status : examples;
  await verbs.patch(String(body.metadata?.name), what);
}

function given(kwargs: Kwargs): Pick<Call, 'uid' | 'retry' | 'reason' | 'version' | 'body' | 'outcome' | 'endSeq'> {
  const body = deepCopy(kwargs.body) as AnyObject;
  return {
    uid: String(body.metadata?.uid),
    retry: kwargs.retry,
    reason: kwargs.reason,
    version: Number(body.metadata?.resourceVersion),
    body,
    outcome: 'running',
    endSeq: Number.POSITIVE_INFINITY,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function putInto(patch: any, fields: AnyObject): void {
  for (const [key, value] of Object.entries(fields)) {
    const isStanza = typeof value === 'object' && !Array.isArray(value);
    if (!isStanza) patch[key] = value;
    else {
      if (patch[key] === undefined) patch[key] = {};
      putInto(patch[key], value);
    }
  }
}

function quietLogger(warnings: string[]): Logger {
  const isLoud = process.env['KOPF_MODEL_LOGS'] !== undefined;
  const log =
    (level: string) =>
    (message: string): void => {
      if (level === 'warn' || level === 'error') warnings.push(message);
      if (isLoud) console.log(`${level}: ${message}`);
    };
  const logger: Logger = {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    isEnabled: (level) => isLoud || level === 'warn' || level === 'error',
    child: () => logger,
  };
  return logger;
}
