import { settings } from '@kopf-ts/core';
import { describe } from 'vitest';
import { anyHandler, eachIsTold, startedWith, type Untyped } from './mistakes.js';

function save() {}

describe('when an operator starts, it is told of', () => {
  eachIsTold([
    [
      'two functions of one name for the same kind',
      () =>
        startedWith(({ on }) => {
          on.create('x', save);
          on.create('x', { id: 'save' }, function other() {});
        }),
      /Handler 'save' cannot work\. Two functions have the id 'save': mistakes\/starting\.test\.ts:\d+, and mistakes\/starting\.test\.ts:\d+\..*\{ id: 'save-2' \}/,
    ],
    [
      'a daemon and a timer of one id',
      () =>
        startedWith(({ daemon, timer }) => {
          daemon('x', { id: 'look' }, save);
          timer('x', { id: 'look', interval: 5 }, function other() {});
        }),
      /Timer 'look' cannot work/,
    ],
    ['no handlers at all', () => startedWith(() => {}), /There are no handlers.*imported.*registry/],
    [
      "a declaration without a function: `on.create('x', { retries: 3 })`",
      () =>
        startedWith((registry) => {
          anyHandler(registry);
          registry.on.create('x', { retries: 3 });
        }),
      /^on\.create\('x'\) \(mistakes\/starting\.test\.ts:\d+\) has no function, so it declares nothing/,
    ],
    [
      'a timer without an interval',
      () => startedWith(({ timer }) => timer('x', save)),
      /^Timer 'save' \(mistakes\/starting\.test\.ts:\d+\) has no interval, so it is called only once.*\{ interval: 60 \}/,
    ],
    [
      'a timer without any pause: `interval: 0`',
      () => startedWith(({ timer }) => timer('x', { interval: 0 }, save)),
      /^Timer 'save' \(.*:\d+\) has interval: 0, so it is called again at once, without any pause: give it some seconds/,
    ],
    [
      '`retries: 0`',
      () => startedWith(({ on }) => on.create('x', { retries: 0 }, save)),
      /^Handler 'save' \(.*:\d+\) has retries: 0, so it is never called.*use 1/,
    ],
    [
      '`timeout: 0`',
      () => startedWith(({ on }) => on.delete('x', { timeout: 0 }, save)),
      /^Handler 'save' \(.*:\d+\) has timeout: 0, so it is never called/,
    ],
    [
      'a kwarg that does not exist: `({ specs }) => …`',
      () =>
        startedWith(({ on }) =>
          on.create('x', function make({ specs, logger }: Untyped) {
            logger.info(specs);
          }),
        ),
      /^Handler 'make' \(.*:\d+\) takes "specs", which handlers of this kind do not get: it is undefined\. Did you mean "spec"\?/,
    ],
    [
      'a kwarg of other handlers: `on.event(…, ({ diff }) => …)`',
      () =>
        startedWith(({ on }) =>
          on.event('x', function see({ diff }: Untyped) {
            void diff;
          }),
        ),
      /^Handler 'see' \(.*:\d+\) takes "diff", which handlers of this kind do not get/,
    ],
    [
      'a class with handlers that is never constructed',
      () =>
        startedWith(({ on }) => {
          class Volumes {
            @on.create('x')
            make() {}
          }
          void Volumes;
        }),
      /method "make" is decorated, but its class is never constructed/,
    ],
    [
      'a class with handlers that is constructed twice',
      () =>
        startedWith(({ on }) => {
          class Volumes {
            @on.create('x')
            make() {}
          }
          new Volumes();
          new Volumes();
        }),
      /constructed more than once/,
    ],
    [
      'names made by a minifier',
      () => startedWith(({ on }) => on.create('x', function e() {})),
      /one-letter name.*keepNames.*declared at mistakes\/starting\.test\.ts:\d+/,
    ],
    [
      'an id that no annotation can have',
      () => startedWith(({ on }) => on.create('x', { id: 'make:it' }, save)),
      /characters in its id that Kubernetes does not permit/,
    ],
    [
      'a misspelt option: `operator({ clusterWide: true })`',
      () => startedWith(anyHandler, { clusterWide: true }),
      /no option "clusterWide" of operators.* Did you mean "clusterwide"\?/,
    ],
    [
      "one namespace that is not in a list: `{ namespaces: 'default' }`",
      () => startedWith(anyHandler, { namespaces: 'default' }),
      /must be an array.*\["default"\]/,
    ],
    [
      'namespaces by something else than labels: `{ namespaces: { label: … } }`',
      () => startedWith(anyHandler, { namespaces: { label: { tenant: 'a' } } }),
      /must be an array.*or be selected by their labels: \{ namespaces: \{ labels: \{ tenant: true \} \} \}/,
    ],
    [
      'namespaces by no labels at all',
      () => startedWith(anyHandler, { namespaces: { labels: {} } }),
      /There are no labels to select the namespaces by/,
    ],
    [
      'namespaces by a label that cannot be',
      () => startedWith(anyHandler, { namespaces: { labels: { 'not a label': true } } }),
      /'not a label' cannot be the key of a label/,
    ],
    [
      'the whole cluster and some namespaces at once',
      () => startedWith(anyHandler, { clusterwide: true, namespaces: ['default'] }),
      /cluster.*namespaces|namespaces.*cluster/,
    ],
    [
      'a client and credentials at once',
      () => startedWith(anyHandler, { client: {} as never, credentials: {} as never }),
      /has its credentials already: leave out either/,
    ],
    [
      'alone and with peers at once: `{ standalone: true, peeringName: … }`',
      () => startedWith(anyHandler, { standalone: true, peeringName: 'ours' }),
      /standalone operator has no peers.*"ours".*leave out either/,
    ],
    [
      "a lifecycle by its name: `{ lifecycle: 'asap' }`",
      () => startedWith(anyHandler, { lifecycle: 'asap' }),
      /"lifecycle" of operators must be a function, not "asap"/,
    ],
    [
      "a priority that is a text: `{ priority: '5' }`",
      () => startedWith(anyHandler, { priority: '5' }),
      /"priority" of operators must be a number, not "5"/,
    ],
    [
      'settings that are not made by `settings()`',
      () => startedWith(anyHandler, { settings: { posting: { level: 'warn' } } }),
      /settings are incomplete.*settings\(\{ … \}\)/,
    ],
    [
      "a duration that is a text: `settings({ watching: { inactivityTimeout: '5m' } })`",
      () => startedWith(anyHandler, { settings: settings({ watching: { inactivityTimeout: '5m' } } as Untyped) }),
      /setting "watching\.inactivityTimeout" must be a number from 0 on, not "5m"/,
    ],
    [
      "a level of Python: `settings({ posting: { level: 'warning' } })`",
      () => startedWith(anyHandler, { settings: settings({ posting: { level: 'warning' } } as Untyped) }),
      /setting "posting\.level" must be one of debug, info, warn, error, not "warning"/,
    ],
    [
      'a negative limit: `settings({ queueing: { workerLimit: -1 } })`',
      () => startedWith(anyHandler, { settings: settings({ queueing: { workerLimit: -1 } }) }),
      /setting "queueing\.workerLimit" must be a number/,
    ],
  ]);
});
