/**
 * How long it takes to decide what an event means and who is called for it: what is done for every event of every
 * object before any handler runs. Measured by parsing the same object, which precedes it in any case.
 */
import { ABSENT, type AnyObject, buildEssence, createRegistry, type Logger, Patch, PRESENT } from '@kopf-ts/core';
import { type ChangingCause, compareEssences, detectChange, extraFields, type Handlers } from '@kopf-ts/core/engine';
import { median } from './figures.js';

const BYTES = 4096;
const HANDLERS = 20;
const ROUNDS = 15;
const REPEATS = 400;
const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';

const resource = {
  ...{ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample', preferred: true },
  ...{ shortcuts: new Set<string>(), categories: new Set<string>(), subresources: new Set<string>() },
  verbs: new Set<string>(),
};
const ignore = (): void => {};
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => logger };

export default async function run(): Promise<void> {
  const handlers = declareHandlers();
  const text = makeText(BYTES);
  const old = buildEssence(JSON.parse(text.replace('"size":"2Gi"', '"size":"1Gi"')) as AnyObject);

  const selected = select(handlers, detect(handlers, JSON.parse(text) as AnyObject, old)).length;
  const declared = handlers.changing.size;
  if (declared !== HANDLERS || selected === 0 || selected === declared) {
    throw new Error(`${selected} of ${declared} handlers are selected, which is not what is to be measured.`);
  }

  const times = { parsing: [] as number[], detection: [] as number[], matching: [] as number[], both: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    // Objects are new each time, as they are in the stream: what is once frozen or cached would be cheaper.
    const causes = parsed(text).map((body) => detect(handlers, body, old));
    times.parsing.push(timeOf(repeats(text), (item) => JSON.parse(item)));
    times.detection.push(timeOf(parsed(text), (body) => detect(handlers, body, old)));
    times.matching.push(timeOf(causes, (cause) => select(handlers, cause)));
    times.both.push(timeOf(parsed(text), (body) => select(handlers, detect(handlers, body, old))));
  }
  console.log(`An object of ${text.length} bytes, ${declared} handlers, ${selected} of them called:`);
  report('JSON.parse', times.parsing, times.parsing);
  report('essence, diff, reason', times.detection, times.parsing);
  report('matching', times.matching, times.parsing);
  report('all together', times.both, times.parsing);
}

function detect(handlers: Handlers, body: AnyObject, old: ReturnType<typeof buildEssence>): ChangingCause {
  const essence = buildEssence(body, { extraFields: extraFields(handlers, resource) });
  const comparison = compareEssences(old, essence);
  const facts = { event: { type: 'MODIFIED' }, body, finalizer: FINALIZER, comparison, initial: false };
  const common = { resource, body, patch: new Patch(), logger, memo: {} };
  return { kind: 'changing', ...common, ...detectChange(facts), old, new: essence, diff: comparison.diff };
}

function select(handlers: Handlers, cause: ChangingCause): readonly unknown[] {
  return handlers.changing.select(cause);
}

/** Of all reasons and with all sorts of filters, some of which fit and some do not. */
function declareHandlers(): Handlers {
  const { on, handlers } = createRegistry();
  const fn = (): void => {};
  for (let n = 0; handlers.changing.size < HANDLERS; n++) {
    on.create('kopfexamples', { id: `create-${n}` }, fn);
    on.update('kopfexamples', { id: `labelled-${n}`, labels: { app: 'app-1', canary: ABSENT } }, fn);
    on.update('kopfexamples', { id: `annotated-${n}`, annotations: { 'example.com/note': PRESENT, no: 'x' } }, fn);
    on.update('kopfexamples', { id: `of-field-${n}`, field: 'spec.size', new: '2Gi' }, fn);
    on.field('kopfexamples', { id: `of-another-field-${n}`, field: ['spec', `another-${n}`] }, fn);
    on.update('kopfexamples', { id: `by-value-${n}`, field: 'spec.size', value: (value) => value === '3Gi' }, fn);
    on.update('kopfexamples', { id: `by-callback-${n}`, when: ({ name, spec }) => spec['size'] !== name }, fn);
    on.resume('kopfexamples', { id: `resume-${n}` }, fn);
    on.delete('kopfexamples', { id: `delete-${n}` }, fn);
    on.update('pods', { id: `of-pods-${n}` }, fn);
  }
  return handlers;
}

/** An object like those in clusters, as it comes in a stream. */
function makeText(bytes: number): string {
  const containers: object[] = [];
  const body = {
    apiVersion: 'kopf.dev/v1',
    kind: 'KopfExample',
    metadata: {
      ...{ name: 'one', namespace: 'default', uid: '3f0c9a52-7d3e-4a4e-9a53-1f1c1b1d1a10', resourceVersion: '12345' },
      labels: { app: 'app-1', tier: 'backend' },
      annotations: { 'example.com/note': 'some text', 'example.com/owner': 'team' },
      finalizers: [FINALIZER],
    },
    spec: { size: '2Gi', containers },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
  for (let n = 0; JSON.stringify(body).length < bytes; n++) {
    containers.push({
      name: `container-${n}`,
      image: `registry.example.com/team/image-${n}:1.${n}`,
      env: [{ name: 'LEVEL', value: 'debug' }],
      limits: { cpu: '2', memory: n * 1024 },
    });
  }
  return JSON.stringify(body);
}

function repeats<T>(item: T): T[] {
  return Array.from({ length: REPEATS }, () => item);
}

function parsed(text: string): AnyObject[] {
  return repeats(text).map((item) => JSON.parse(item) as AnyObject);
}

/** Microseconds for one item. */
function timeOf<T>(items: readonly T[], fn: (item: T) => unknown): number {
  const started = performance.now();
  for (const item of items) fn(item);
  return ((performance.now() - started) * 1000) / items.length;
}

function report(title: string, times: readonly number[], parsing: readonly number[]): void {
  const time = median(times);
  const perSecond = Math.round(1_000_000 / time).toLocaleString('en-US');
  const ratio = (time / median(parsing)).toFixed(2);
  console.log(`${title.padEnd(22)} ${time.toFixed(1).padStart(6)} µs ${perSecond.padStart(9)}/s ${ratio}× JSON.parse`);
}
