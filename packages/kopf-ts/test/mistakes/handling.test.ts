import { EventEmitter } from 'node:events';
import { apiError, conditions, type KubeClient, type Registry, subhandler, TemporaryError } from '@kopf-ts/core';
import { describe } from 'vitest';
import { runIn } from '../../src/running/run.js';
import { fakeHost } from '../running/fake-host.js';
import { newPlace, type Place, startOperator } from '../wiring/wired.js';
import { anyHandler, eachIsTold, type Untyped } from './mistakes.js';

interface Told {
  readonly declare: (registry: Registry & Untyped) => unknown;
  readonly options?: Untyped;
  /** Instead of creating an object and waiting for a while. */
  readonly during?: (place: Place) => Promise<unknown>;
}

/** All warnings and errors of an operator with these handlers, with an object to handle. */
async function toldBy({ declare, options = {}, during }: Told): Promise<string> {
  const place = await newPlace();
  const { logger } = await startOperator(place, declare, typeof options === 'function' ? options(place) : options);
  if (during !== undefined) await during(place);
  else await place.create('one', { spec: { size: 5, nested: { field: 1 } } });
  await place.clock.advance(1);
  await place.settle();
  const all = [...logger.messages('warn'), ...logger.messages('error')];
  // Each is told once; what is tried again after a while is told again, as in Kopf.
  const lines = all.filter((line, index) => !line.startsWith('Throttling') || all.indexOf(line) === index);
  if (new Set(lines).size < lines.length) throw new Error(`It is told more than once: ${lines.join('\n')}`);
  return lines.join('\n');
}

/** A cluster that does not permit some requests, in the words of real ones. */
const forbidding =
  (method: string, path: RegExp, words: string) =>
  ({ client }: Place): { client: KubeClient } => {
    const refused = (request: { method: string; path: string }): boolean =>
      request.method === method && path.test(request.path);
    const refusal = () =>
      Promise.reject(
        apiError({ status: 403, payload: { kind: 'Status', code: 403, reason: 'Forbidden', message: words } }),
      );
    return {
      client: {
        request: (request) => (refused(request) ? refusal() : client.request(request)),
        async *stream(request) {
          if (refused(request)) await refusal();
          yield* client.stream(request);
        },
      },
    };
  };

const ROBOT = 'User "system:serviceaccount:shop:robot"';

describe('when an operator works, it is told of', () => {
  eachIsTold([
    [
      "a misspelt kind: `on.create('kopfexample5', fn)`",
      () => toldBy({ declare: ({ on }) => on.create('kopfexample5', function make() {}) }),
      /Unresolved resources cannot be served.*Handler 'make' \(mistakes\/handling\.test\.ts:\d+\) waits for it\. Did you mean 'kopfexamples'\?/,
    ],
    [
      'a kind without its CRD',
      () => toldBy({ declare: ({ on }) => on.create('example.com/v1/databases', function make() {}) }),
      /Unresolved resources.*Handler 'make' .*kubectl apply -f crd\.yaml.*kopf dev --apply=crd\.yaml/,
    ],
    [
      'a misspelt namespace',
      () => toldBy({ declare: anyHandler, options: { namespaces: ['deafult'] } }),
      /There is no namespace "deafult".*Did you mean "default"\?/,
    ],
    [
      '`spec.size = 6` in a handler',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ spec }: Untyped) {
              spec.size = 6;
            }),
        }),
      /Handler 'make' failed with an exception.*read only property 'size'.*use the patch: patch\.spec\.size = …/,
    ],
    [
      '`body.spec.nested.field = 2` in a handler',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ body }: Untyped) {
              body.spec.nested.field = 2;
            }),
        }),
      /use the patch: patch\.spec\.nested\.field = …/,
    ],
    [
      '`body.status = { … }` in a handler',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ body }: Untyped) {
              body.status = { phase: 'Ready' };
            }),
        }),
      /Objects are read-only for handlers.*use the patch: patch\.status\.field = …/,
    ],
    [
      'a number that is none: `patch.spec.size = Number(undefined)`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch }: Untyped) {
              patch.spec.size = Number(undefined);
            }),
        }),
      /The field 'spec\.size' of the patch cannot be sent\. It is dropped: spec\.size is NaN/,
    ],
    [
      'a number that is none in what is returned',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make() {
              return { rate: 1 / 0 };
            }),
        }),
      /Infinity is not JSON/,
    ],
    [
      'a Map in a patch',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch }: Untyped) {
              patch.spec.nested = { items: new Map([['a', 1]]) };
            }),
        }),
      /The field 'spec\.nested' of the patch cannot be sent\. It is dropped: spec\.nested\.items is a Map/,
    ],
    [
      'a promise in a patch',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch }: Untyped) {
              patch.spec.size = Promise.resolve(6);
            }),
        }),
      /The field 'spec\.size' of the patch cannot be sent\. It is dropped: spec\.size is a promise: await it/,
    ],
    [
      'an asynchronous function in `patch.fns`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch }: Untyped) {
              patch.fns.push(async function later(object: Untyped) {
                await Promise.resolve();
                object.spec.size = 6;
              });
            }),
        }),
      /The function 'later' of the patch has failed\. It is dropped: 'later' is asynchronous, but patch functions must be synchronous.*Fetch what it needs beforehand/,
    ],
    [
      'an asynchronous function in `api(…).replace()`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api, name }: Untyped) {
              await api('kopfexamples').replace(name, async (object: Untyped) => object);
            }),
        }),
      /The function that changes an object must be synchronous, as it may be called several times: get what it needs before/,
    ],
    [
      'the status in what is written otherwise: `api(…).create({ …, status })`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api }: Untyped) {
              const spec = { ports: [{ port: 80 }] };
              await api('services').create({ metadata: { name: 'web' }, spec, status: { loadBalancer: {} } });
            }),
        }),
      /create services\.v1 default\/web: the cluster ignores the status here.*Use api\(…\)\.status for it/,
    ],
    [
      'the spec in a patch of the status: `api(…).status.patch(name, { spec })`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api }: Untyped) {
              await api('services').create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
              await api('services').status.patch('web', { spec: { type: 'NodePort' }, status: { loadBalancer: {} } });
            }),
        }),
      /takes nothing but the status here, and ignores this: spec\. Use api\(…\) instead/,
    ],
    [
      'a name instead of an owner: `{ owner: name }`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api, name }: Untyped) {
              await api('configmaps').create({ metadata: { name: 'a' } }, { owner: name });
            }),
        }),
      /An owner is a whole object, such as the body of a handler, and not "one"/,
    ],
    [
      "replicas as a text: `scale.set('web', '3')`",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api }: Untyped) {
              await api('deployments').scale.set('web', '3');
            }),
        }),
      /There cannot be "3" replicas/,
    ],
    [
      "the delay without its name: `new TemporaryError('Wait.', 5)`",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make(_: Untyped) {
              throw new (TemporaryError as Untyped)('Wait.', 5);
            }),
        }),
      /Pass the delay by its name: new TemporaryError\("Wait\.", \{ delay: 5 \}\)/,
    ],
    [
      "a delay that is no number: `{ delay: '5s' }`",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make(_: Untyped) {
              throw new (TemporaryError as Untyped)('Wait.', { delay: '5s' });
            }),
        }),
      /A delay is a number of seconds, and not "5s"/,
    ],
    [
      'a misspelt option of a verb: `{ dryrun: true }`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api, name }: Untyped) {
              await api('kopfexamples').patch(name, { spec: { size: 6 } }, { dryrun: true });
            }),
        }),
      /patch\(\) has no option 'dryrun'\. Did you mean 'dryRun'\? It has: namespace, signal, dryRun/,
    ],
    [
      "a namespace as an option: `get('settings', 'default')`",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api }: Untyped) {
              await api('configmaps').get('settings', 'default');
            }),
        }),
      /The options of get\(\) are an object, such as \{ namespace: 'default' \}/,
    ],
    [
      "a choice that there is not: `delete(name, { ifGone: 'ignroe' })`",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api }: Untyped) {
              await api('configmaps').delete('settings', { ifGone: 'ignroe' });
            }),
        }),
      /delete configmaps default\/settings: The option 'ifGone' of delete\(\) is 'fail' or 'ignore', and not "ignroe"\./,
    ],
    [
      'the whole of an object, as it was read, to apply()',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api, body }: Untyped) {
              await api('kopfexamples').apply(body);
            }),
        }),
      /apply kopfexamples\.v1\.kopf\.dev default\/one: Apply only the fields that you want to own/,
    ],
    [
      'a subresource that a kind has not: `api(Kind).scale`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api, name }: Untyped) {
              await api('kopfexamples').scale.set(name, 3);
            }),
        }),
      /patch kopfexamples\.v1\.kopf\.dev\/scale default\/one: The cluster has no subresource 'scale' of kopfexamples/,
    ],
    [
      'a number that is none, by a verb',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api, name }: Untyped) {
              await api('kopfexamples').patch(name, { spec: { list: [1, Number.NaN] } });
            }),
        }),
      /It cannot be sent as JSON: spec\.list\.1 is NaN/,
    ],
    [
      '`conditions(body, patch)`: the other way round',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch, body }: Untyped) {
              conditions(body, patch).set('Ready' as never, true);
            }),
        }),
      /conditions\(\) takes the patch and the body of a handler, in this order: conditions\(patch, body\)/,
    ],
    [
      "a sentence for a reason: `set('Ready', false, { reason: 'no pods' })`",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch, body }: Untyped) {
              conditions(patch, body).set('Ready' as never, false, { reason: 'no pods' });
            }),
        }),
      /The condition 'Ready' has the reason 'no pods', but that must be a word in CamelCase; sentences are for the message/,
    ],
    [
      'a permission that handlers lack: told at once',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', async function make({ api }: Untyped) {
              await api('configmaps').list();
            }),
          options: forbidding(
            'GET',
            /configmaps/,
            `configmaps is forbidden: ${ROBOT} cannot list resource "configmaps" in API group "" in the namespace "default"`,
          ),
        }),
      /Handler 'make' failed.*list configmaps.v1 default: .*Missing in a Role of the namespace "default": \{ apiGroups: \[""\], resources: \["configmaps"\]/,
    ],
    [
      "`labels.owner = 'me'` in a handler",
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ labels }: Untyped) {
              labels.owner = 'me';
            }),
        }),
      /Cannot add property owner.*use the patch: patch\.spec\.owner = …, or the like in patch\.status and patch\.metadata/,
    ],
    [
      '`status.phase = …` in a timer',
      () =>
        toldBy({
          declare: ({ timer }) =>
            timer('kopfexamples', { interval: 60 }, function look({ status }: Untyped) {
              status.phase = 'Ready';
            }),
        }),
      /'phase' of the status is read-only.*change it through the patch/,
    ],
    [
      'a filter that returns a promise: `when: ({ client }) => client.request(…)`',
      () =>
        toldBy({
          declare: ({ on }) => on.create('kopfexamples', { when: () => Promise.resolve(false) }, function make() {}),
        }),
      /A filter of Handler 'make' \(mistakes\/handling\.test\.ts:\d+\) has returned a promise, which cannot be waited for/,
    ],
    [
      'a handler that is declared while the operator runs',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make() {
              on.update('kopfexamples', function change() {});
            }),
        }),
      /^Handler 'change' \(mistakes\/handling\.test\.ts:\d+\) is declared while the operator is running.*when its file is loaded/,
    ],
    [
      'a result that cannot be stored',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make() {
              return { size: 5n };
            }),
        }),
      /Handler 'make' has returned a value that cannot be stored in KopfExample default\/one/,
    ],
    [
      'two functions of one id whose filters turn out to fit the same object',
      () =>
        toldBy({
          declare: ({ on }) => {
            on.create('kopfexamples', { id: 'make', when: () => true }, function one() {});
            on.create('kopfexamples', { id: 'make', field: undefined }, function two() {});
          },
        }),
      /Two functions have the id 'make': mistakes\/handling\.test\.ts:\d+, and mistakes\/handling\.test\.ts:\d+/,
    ],
    [
      'two sub-handlers of one id',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make() {
              subhandler('disk', () => {});
              subhandler('disk', () => {});
            }),
        }),
      /Handler 'make' failed.*'?make\/disk/,
    ],
    [
      'quotes in the id of a sub-handler: `execute({ \'the "big" disk\'() {} })`',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make() {
              subhandler('the "big" disk', () => {});
            }),
        }),
      /Handler 'make' failed.*Handler 'make' registers a sub-handler with the id "make\/the.*make it a word/,
    ],
    [
      'no permission to see the objects',
      () =>
        toldBy({
          declare: anyHandler,
          options: forbidding(
            'GET',
            /\/kopfexamples(?:\?|$)/,
            `kopfexamples.kopf.dev is forbidden: ${ROBOT} cannot list resource "kopfexamples" in API group "kopf.dev" at the cluster scope`,
          ),
        }),
      /watch-stream for kopfexamples.* is down: .*Missing in a ClusterRole: \{ apiGroups: \["kopf\.dev"\], resources: \["kopfexamples"\], verbs: \["list", "watch"\] \}/,
    ],
    [
      'no permission to see the CRDs',
      () =>
        toldBy({
          declare: anyHandler,
          options: forbidding('GET', /\/customresourcedefinitions(?:\?|$)/, 'customresourcedefinitions is forbidden'),
        }),
      /Not enough permissions to watch for resources.*\{ apiGroups: \["apiextensions\.k8s\.io"\], resources: \["customresourcedefinitions"\], verbs: \["list", "watch"\] \}/,
    ],
    [
      'no permission to see the namespaces',
      () =>
        toldBy({
          declare: anyHandler,
          options: (place: Place) => ({
            namespaces: ['shop-*'],
            ...forbidding('GET', /\/namespaces(?:\?|$)/, 'namespaces is forbidden')(place),
          }),
        }),
      /Not enough permissions to list namespaces.*\{ apiGroups: \[""\], resources: \["namespaces"\], verbs: \["list", "watch"\] \}/,
    ],
    [
      'no permission to change the objects',
      () =>
        toldBy({
          declare: ({ on }) =>
            on.create('kopfexamples', function make({ patch }: Untyped) {
              patch.spec.size = 6;
            }),
          options: forbidding(
            'PATCH',
            /\/kopfexamples\/one/,
            `kopfexamples.kopf.dev "one" is forbidden: ${ROBOT} cannot patch resource "kopfexamples" in API group "kopf.dev" in the namespace "default"`,
          ),
        }),
      /Missing in a Role of the namespace "default": \{ apiGroups: \["kopf\.dev"\], resources: \["kopfexamples"\], verbs: \["patch"\] \}/,
    ],
    [
      '`on.validate` without `settings.admission.server`',
      () => toldBy({ declare: ({ on }) => on.validate('kopfexamples', function check() {}), during: async () => {} }),
      /no admission server\/tunnel is set.*settings\.admission\.server/,
    ],
    [
      '`on.validate` without `settings.admission.managed`',
      () =>
        toldBy({
          declare: ({ on }) => {
            on.validate('kopfexamples', function check() {});
            on.startup(function begin({ settings }: Untyped) {
              settings.admission.server = {
                async *serve({ signal }: { signal: AbortSignal }) {
                  await new Promise((resolve) => signal.addEventListener('abort', resolve));
                },
              };
            });
          },
          during: async () => {},
        }),
      /settings\.admission\.managed is not set: no API server calls them.*'auto\.kopf\.dev'.*Webhook 'check' \(mistakes\/handling\.test\.ts:\d+\)/,
    ],
    [
      'a startup handler that sets a setting to a wrong value',
      () =>
        toldBy({
          declare: ({ on }) => {
            anyHandler({ on } as Registry);
            on.startup(function begin({ settings }: Untyped) {
              settings.peering.lifetime = '60';
            });
          },
          during: async () => {},
        }),
      /^Startup activity has failed: The setting "peering\.lifetime" must be a number from 0 on, not "60"\.$/,
    ],
    [
      'a forgotten `await`',
      () => forgotten(),
      /Handler 'make' of KopfExample default\/one has failed in a promise that nobody awaits: boo\. Await it: put "await" before the call that makes the promise, in the handler, which is declared at mistakes\/handling\.test\.ts:\d+\./,
    ],
    [
      'a startup handler that fails',
      () => fatal(),
      /Startup activity has failed: One or more handlers failed\. 'connect': no database$/,
    ],
  ]);
});

/** What a whole process says. The handler says it of itself, then the operator says why it ends; and that is all. */
async function fatal(): Promise<string> {
  const { PermanentError, createRegistry, settings: makeSettings } = await import('@kopf-ts/core');
  const { recordingLogger } = await import('@kopf-ts/testing');
  const { operator } = await import('../../src/operator.js');
  const { clock, client } = await newPlace();
  const [registry, logger, settings] = [createRegistry(), recordingLogger(), makeSettings()];
  registry.on.startup(function connect() {
    throw new PermanentError('no database');
  });
  const options = { registry, logger, settings, clock, client, identity: 'me', clusterwide: true };
  const code = runIn(fakeHost(), (signal) => operator({ ...options, signal }), { settings, clock, logger });
  await clock.advance(30);
  if ((await code) !== 1) throw new Error('It did not fail.');
  const [ofHandler = '', ofOperator = '', ...more] = logger.messages('error');
  if (!ofHandler.includes('no database') || more.length > 0) throw new Error(logger.messages('error').join('\n'));
  return ofOperator;
}

/** As Node tells it, but of a process that is not real: this one is of the tests. */
async function forgotten(): Promise<string> {
  const { createRegistry, settings: makeSettings } = await import('@kopf-ts/core');
  const { runInContext } = await import('@kopf-ts/core/engine');
  const { recordingLogger } = await import('@kopf-ts/testing');
  const { strayErrors } = await import('@kopf-ts/reactor');
  const [source, settings, logger, registry] = [
    new EventEmitter(),
    makeSettings(),
    recordingLogger(),
    createRegistry(),
  ];
  registry.on.create('kopfexamples', function make() {});
  const [handler] = registry.handlers.changing;
  const resource = { group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' };
  const cause = { kind: 'changing', resource, logger, body: { metadata: { namespace: 'default', name: 'one' } } };
  const ended = strayErrors({ settings, logger, source }).service.run(new AbortController().signal);
  ended.catch(() => {});
  runInContext({ settings, handler, cause: cause as Untyped }, () =>
    source.emit('unhandledRejection', new Error('boo')),
  );
  await ended.catch(() => {});
  return logger.messages('error').join('\n');
}
