import { settings } from '@kopf-ts/core';
import { describe } from 'vitest';
import { eachIsTold, refusalOf, type Untyped } from './mistakes.js';

function save() {}

const messageOf = (fn: () => unknown): string => {
  try {
    fn();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('Nothing was said.');
};

describe('when handlers are declared, it is told of', () => {
  eachIsTold([
    [
      "`on.create('kopf.dev', 'v1', 'kopfexamples', fn)`, as in Kopf",
      () => refusalOf(({ on }) => on.create('kopf.dev', 'v1', 'kopfexamples', save)),
      /on\.create\('kopf\.dev'\): .*one string: on\.create\('kopf\.dev\/v1\/kopfexamples', …\)/,
    ],
    [
      "`on.event('v1', 'pods', fn)`",
      () => refusalOf(({ on }) => on.event('v1', 'pods', save)),
      /one string: on\.event\('v1\/pods', …\)/,
    ],
    [
      "`timer('example.com', 'v1', 'volumes', { interval: 5 }, fn)`",
      () => refusalOf(({ timer }) => timer('example.com', 'v1', 'volumes', { interval: 5 }, save)),
      /one string: timer\('example\.com\/v1\/volumes', …\)/,
    ],
    [
      "a function that is called and not passed: `on.create('x', {}, save())`",
      () => refusalOf(({ on }) => on.create('x', {}, save())),
      /the handler is undefined; expected \(selector, options\?, handler\)/,
    ],
    [
      "an async one: `on.create('x', save())`",
      () => refusalOf(({ on }) => on.create('x', Promise.reject(new Error('boo')))),
      /the handler is a promise: pass the function itself, without calling it/,
    ],
    [
      "a generator: `on.create('x', function* () {})`",
      () => refusalOf(({ on }) => on.create('x', function* make() {})),
      /the handler is a generator, which does nothing when called: remove the asterisk/,
    ],
    [
      "the options last: `on.create('x', fn, { retries: 5 })`",
      () => refusalOf(({ on }) => on.create('x', save, { retries: 5 })),
      /the handler is a function and comes last/,
    ],
    [
      'a misspelt option: `{ retires: 5 }`',
      () => refusalOf(({ on }) => on.update('x', { retires: 5 }, save)),
      /no option "retires".* Did you mean "retries"\?/,
    ],
    [
      'an option of Python: `{ initial_delay: 5 }`',
      () => refusalOf(({ daemon }) => daemon('x', { initial_delay: 5 }, save)),
      /Did you mean "initialDelay"\?/,
    ],
    [
      "a timeout that is a text: `{ timeout: '60' }`",
      () => refusalOf(({ on }) => on.delete('x', { timeout: '60' }, save)),
      /on\.delete\('x'\) of save: timeout must be a number of seconds, not "60"/,
    ],
    [
      'a negative backoff',
      () => refusalOf(({ on }) => on.create('x', { backoff: -1 }, save)),
      /backoff must be a number of seconds, not -1/,
    ],
    [
      "a backoff with a unit: `{ backoff: '5s' }`",
      () => refusalOf(({ on }) => on.resume('x', { backoff: '5s' }, save)),
      /backoff must be a number of seconds, not "5s"/,
    ],
    [
      'half an attempt: `{ retries: 1.5 }`',
      () => refusalOf(({ on }) => on.create('x', { retries: 1.5 }, save)),
      /retries must be a whole number of attempts, not 1\.5/,
    ],
    [
      "an unknown mode: `{ errors: 'PERMANENT' }`",
      () => refusalOf(({ on }) => on.create('x', { errors: 'PERMANENT' }, save)),
      /errors must be one of ignored, temporary, permanent/,
    ],
    [
      'a label that is a number',
      () => refusalOf(({ on }) => on.create('x', { labels: { tier: 1 } }, save)),
      /labels "tier" is 1; use a string, a function, PRESENT or ABSENT/,
    ],
    [
      'an annotation that is null',
      () => refusalOf(({ on }) => on.create('x', { annotations: { a: null } }, save)),
      /annotations "a" is null; use .* ABSENT/,
    ],
    [
      '`when: true`',
      () => refusalOf(({ on }) => on.create('x', { when: true }, save)),
      /when must be a function that returns a boolean, not true/,
    ],
    [
      'an async filter: `when: async () => true`',
      () => refusalOf(({ on }) => on.create('x', { when: async () => true }, save)),
      /when must be a synchronous function/,
    ],
    [
      'a filter that forgets to return: `when: ({ spec }) => { spec.size > 5; }`',
      () =>
        refusalOf(({ on }) =>
          on.create(
            'x',
            {
              when: ({ spec }: Untyped) => {
                void (spec.size > 5);
              },
            },
            save,
          ),
        ),
      /when never returns anything; with braces, a function needs "return"/,
    ],
    [
      'a value without its field',
      () => refusalOf(({ on }) => on.create('x', { value: 5 }, save)),
      /without a mandatory field; add the field/,
    ],
    [
      'a value and an old one',
      () => refusalOf(({ on }) => on.update('x', { field: 'spec', value: 1, old: 2 }, save)),
      /Either value or old\/new/,
    ],
    ['`on.field` without a field', () => refusalOf(({ on }) => on.field('x', {}, save)), /the field is mandatory/],
    [
      "a dot too many: `field: 'spec..size'`",
      () => refusalOf(({ on }) => on.field('x', { field: 'spec..size' }, save)),
      /nothing between the dots.*use a list of keys/,
    ],
    ['an empty id', () => refusalOf(({ on }) => on.create('x', { id: '' }, save)), /leave it out to use the function/],
    [
      "spaces in an id: `{ id: 'make it' }`",
      () => refusalOf(({ on }) => on.create('x', { id: 'make it' }, save)),
      /on\.create\('x'\) of make it: the id "make it" must be a word: progress is stored by it/,
    ],
    [
      "an interval with a unit: `{ interval: '1m' }`",
      () => refusalOf(({ timer }) => timer('x', { interval: '1m' }, save)),
      /timer\('x'\) of save: interval must be a number of seconds/,
    ],
    [
      "operations in lower case: `['create']`",
      () => refusalOf(({ on }) => on.validate('x', { operations: ['create'] }, save)),
      /non-empty list of CREATE, UPDATE, DELETE, CONNECT/,
    ],
    [
      'a webhook that may take a minute',
      () => refusalOf(({ on }) => on.mutate('x', { timeoutSeconds: 60 }, save)),
      /timeoutSeconds must be a whole number from 1 to 30, not 60/,
    ],
    [
      "labels as a selector: `objectSelector: { app: 'web' }`",
      () => refusalOf(({ on }) => on.validate('x', { objectSelector: { app: 'web' } }, save)),
      /objectSelector must be an object with matchLabels/,
    ],
    [
      'a selector that is not there yet, since modules import each other',
      () => refusalOf(({ on }) => on.create(undefined, {}, save)),
      /on\.create\(undefined\) of save: .*must be a string, an object/,
    ],
    [
      "a group and a version without a name: `'kopf.dev/v1'`",
      () => refusalOf(({ on }) => on.create('kopf.dev/v1', save)),
      /write 'kopf\.dev\/v1\/<name>'/,
    ],
    [
      'a selector with a group alone',
      () => refusalOf(({ on }) => on.create({ group: 'kopf.dev' }, save)),
      /Unspecific resource with no names/,
    ],
    [
      'two functions without names for the same',
      () =>
        refusalOf(({ on }) => {
          on.create('x', () => 1);
          on.create('x', () => 2);
        }),
      /is already declared at mistakes\/declaring\.test\.ts:\d+, .*name at least one of the functions, or give it an id/,
    ],
    [
      'a method decorated in the way of old TypeScript',
      () => refusalOf(({ on }) => on.create('x')(save, 'save', {})),
      /no experimentalDecorators in tsconfig\.json/,
    ],
    [
      'a group of settings that does not exist',
      () => messageOf(() => settings({ watchin: {} } as Untyped)),
      /no setting "watchin".* Did you mean "watching"\?/,
    ],
    [
      'a setting that does not exist, assigned in a startup handler',
      () =>
        messageOf(() => {
          (settings().posting as Untyped).lvl = 'warn';
        }),
      /no setting "posting\.lvl"\. Known here: enabled/,
    ],
  ]);
});
