import { describe, expect, it } from 'vitest';
import { RegistrationError } from '../../src/errors.js';
import { ABSENT, PRESENT } from '../../src/intents/filters.js';
import { createRegistry } from '../../src/intents/registration/registry.js';
import { EVERYTHING } from '../../src/values/resources/selector.js';

/** Registrars without types: mistakes that the compiler would not allow are made by those who have no compiler. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Untyped = Record<string, any>;

const RESOURCE_KINDS = [
  ...['create', 'update', 'delete', 'resume', 'field', 'event', 'index', 'daemon', 'timer', 'validate', 'mutate'],
];
const ACTIVITIES = ['startup', 'cleanup', 'login', 'probe'];
const CHANGES = ['create', 'update', 'delete', 'resume', 'field'];
const WEBHOOKS = ['validate', 'mutate'];
const EXECUTED = [...CHANGES, 'index', 'daemon', 'timer'];

function untyped() {
  const registry = createRegistry();
  return { registry, on: registry.on as unknown as Untyped };
}

function fn() {}

function mistakeOf(declare: (on: Untyped) => unknown): RegistrationError {
  const { registry, on } = untyped();
  try {
    declare(on);
  } catch (error) {
    // Nothing is left of what was refused.
    expect(Object.values(registry.handlers).flatMap((family) => [...family])).toEqual([]);
    if (error instanceof RegistrationError) return error;
    throw error;
  }
  throw new Error('There was no mistake.');
}

/** With what the kind cannot do without. */
const complete = (kind: string, options: object) => (kind === 'field' ? { field: 'spec.field', ...options } : options);

const MISTAKES: readonly (readonly [string, readonly string[], object, RegExp])[] = [
  ['a null label', RESOURCE_KINDS, { labels: { x: null } }, /labels "x" is null.*PRESENT or ABSENT/],
  ['a null annotation', RESOURCE_KINDS, { annotations: { x: null } }, /annotations "x" is null.*PRESENT or ABSENT/],
  ['an undefined label', RESOURCE_KINDS, { labels: { x: undefined } }, /labels "x" is undefined/],
  ['a number in labels', RESOURCE_KINDS, { labels: { x: 1 } }, /labels "x" is 1; use a string/],
  ['an object in labels', RESOURCE_KINDS, { labels: { x: Object.create(null) } }, /labels "x" is an object/],
  ['some other symbol in labels', RESOURCE_KINDS, { labels: { x: EVERYTHING } }, /labels "x" is Symbol/],
  ['labels that are no mapping', RESOURCE_KINDS, { labels: 'app=web' }, /labels must be an object/],
  ['annotations that are a list', RESOURCE_KINDS, { annotations: [] }, /annotations must be an object/],
  ['an asynchronous label', RESOURCE_KINDS, { labels: { x: async () => true } }, /labels "x" must be a synchronous/],
  ['an asynchronous callback', RESOURCE_KINDS, { when: async () => true }, /when must be a synchronous function/],
  ['a callback that is not', RESOURCE_KINDS, { when: true }, /when must be a function.*not true/],
  ['an asynchronous value', RESOURCE_KINDS, { field: 'spec', value: async () => true }, /value must be a synchronous/],
  ['a field of no type', RESOURCE_KINDS, { field: 5 }, /field must be a dotted string or a list of strings, not 5/],
  ['a list of no strings', RESOURCE_KINDS, { field: ['spec', 5] }, /field must be a dotted string.*not a list/],
  ['a dot too many', RESOURCE_KINDS, { field: 'spec..field' }, /nothing between the dots.*"spec\.\.field"/],
  ['a dot at the end', RESOURCE_KINDS, { field: 'spec.' }, /nothing between the dots/],
  [
    'a value without a field',
    RESOURCE_KINDS.filter((kind) => kind !== 'field'),
    { value: 'x' },
    /without a mandatory field; add/,
  ],
  ['an absent value without a field', ['create', 'event'], { value: ABSENT }, /without a mandatory field/],
  ['a value without a real field', ['create', 'event'], { field: '', value: 'x' }, /without a mandatory field/],
  ['an old value without a field', ['update'], { old: 'x' }, /without a mandatory field/],
  ['a new value without a field', ['update'], { new: 'x' }, /without a mandatory field/],
  ['a value with an old one', ['update', 'field'], { field: 'spec', value: 'x', old: 'y' }, /Either value or old\/new/],
  [
    'a value with a new one',
    ['update', 'field'],
    { field: 'spec', value: 'x', new: PRESENT },
    /Either value or old\/new/,
  ],
  [
    'an old value where there is no change',
    ['create', 'delete', 'resume', 'event', 'daemon', 'validate'],
    { field: 'spec', old: 'x' },
    /there is no option "old"/,
  ],
  ['no field', ['field'], { field: undefined }, /the field is mandatory.*\{ field: … \}/],
  ['an empty field', ['field'], { field: '' }, /the field is mandatory/],
  ['an empty list as the field', ['field'], { field: [] }, /the field is mandatory/],
  [
    'a misspelt option',
    [...RESOURCE_KINDS, ...ACTIVITIES],
    { retires: 5 },
    /there is no option "retires"; known here: id, param/,
  ],
  [
    'an option in the words of Python',
    ['daemon', 'timer'],
    { initial_delay: 5 },
    /"initial_delay"; known here: .*initialDelay/,
  ],
  ['an option of a prototype', ['create', 'startup'], JSON.parse('{"__proto__": 1}'), /there is no option "__proto__"/],
  ['filters of an activity', ACTIVITIES, { labels: {} }, /there is no option "labels"/],
  ['retries of webhooks', WEBHOOKS, { retries: 1 }, /there is no option "retries"/],
  ['errors of webhooks', WEBHOOKS, { errors: 'ignored' }, /there is no option "errors"/],
  ['cancellation of a timer', ['timer'], { cancellationTimeout: 1 }, /there is no option "cancellationTimeout"/],
  ['an interval of a daemon', ['daemon'], { interval: 1 }, /there is no option "interval"/],
  [
    'an optional creation',
    ['create', 'update', 'resume', 'field'],
    { optional: true },
    /there is no option "optional"/,
  ],
  ['an empty id', [...RESOURCE_KINDS, ...ACTIVITIES], { id: '' }, /id must be a non-empty string, not ""/],
  ['an id that is no text', [...RESOURCE_KINDS, ...ACTIVITIES], { id: 5 }, /id must be a non-empty string, not 5/],
  ['a null id', [...RESOURCE_KINDS, ...ACTIVITIES], { id: null }, /id must be a non-empty string, not null/],
  [
    'an unknown mode of errors',
    [...EXECUTED, ...ACTIVITIES],
    { errors: 'PERMANENT' },
    /errors must be one of ignored, temporary, permanent, not "PERMANENT"/,
  ],
  [
    'a timeout that is no number',
    [...EXECUTED, ...ACTIVITIES],
    { timeout: '60' },
    /timeout must be a number of seconds, not "60"/,
  ],
  ['a negative timeout', EXECUTED, { timeout: -1 }, /timeout must be a number of seconds, not -1/],
  ['an endless timeout', EXECUTED, { timeout: Number.POSITIVE_INFINITY }, /timeout must be a number of seconds/],
  ['a timeout of nothing', EXECUTED, { timeout: Number.NaN }, /timeout must be a number of seconds, not NaN/],
  [
    'a fraction of an attempt',
    [...EXECUTED, ...ACTIVITIES],
    { retries: 1.5 },
    /retries must be a whole number.*not 1.5/,
  ],
  ['less than no attempts', EXECUTED, { retries: -1 }, /retries must be a whole number/],
  ['attempts that are no number', EXECUTED, { retries: '3' }, /retries must be a whole number of attempts, not "3"/],
  [
    'a backoff that is no number',
    [...EXECUTED, ...ACTIVITIES],
    { backoff: '5s' },
    /backoff must be a number of seconds, not "5s"/,
  ],
  ['a list of backoffs', EXECUTED, { backoff: [1, 2] }, /backoff must be a number of seconds, not a list/],
  ['a backoff without a limit', EXECUTED, { backoff: { min: 1 } }, /backoff must be \{ min, max \}/],
  ['a backoff that shrinks', EXECUTED, { backoff: { min: 2, max: 1 } }, /min ≤ max/],
  ['a factor that shrinks', EXECUTED, { backoff: { min: 1, max: 2, factor: 0.5 } }, /factor ≥ 1/],
  ['a factor that is a text', EXECUTED, { backoff: { min: 1, max: 2, factor: '2' } }, /factor ≥ 1/],
  ['too much jitter', EXECUTED, { backoff: { min: 1, max: 2, jitter: 1.1 } }, /jitter from 0 to 1/],
  ['a null jitter', EXECUTED, { backoff: { min: 1, max: 2, jitter: null } }, /jitter from 0 to 1/],
  ['a misspelt backoff', EXECUTED, { backoff: { min: 1, maximum: 2 } }, /backoff: there is no option "maximum"/],
  [
    'an initial delay that is a text',
    ['daemon', 'timer'],
    { initialDelay: '5' },
    /initialDelay must be a number of seconds/,
  ],
  [
    'an asynchronous initial delay',
    ['daemon', 'timer'],
    { initialDelay: async () => 5 },
    /initialDelay must be a synchronous/,
  ],
  [
    'a negative cancellation',
    ['daemon'],
    { cancellationBackoff: -1 },
    /cancellationBackoff must be a number of seconds/,
  ],
  ['a textual cancellation', ['daemon'], { cancellationTimeout: '1' }, /cancellationTimeout must be a number/],
  ['a polling that is a flag', ['daemon'], { cancellationPolling: true }, /cancellationPolling must be a number/],
  ['a textual interval', ['timer'], { interval: '1m' }, /interval must be a number of seconds, not "1m"/],
  ['a textual idling', ['timer'], { idle: '1m' }, /idle must be a number of seconds/],
  ['a textual sharpness', ['timer'], { sharp: 'no' }, /sharp must be true or false, not "no"/],
  ['a textual optionality', ['delete'], { optional: 'no' }, /optional must be true or false/],
  ['a numeric inclusion of deleted ones', ['resume'], { deleted: 1 }, /deleted must be true or false, not 1/],
  ['no operations', WEBHOOKS, { operations: [] }, /operations must be a non-empty list.*leave it out for all/],
  [
    'an unknown operation',
    WEBHOOKS,
    { operations: ['CREATE', 'PATCH'] },
    /non-empty list of CREATE, UPDATE, DELETE, CONNECT/,
  ],
  ['one operation that is not in a list', WEBHOOKS, { operations: 'CREATE' }, /operations must be a non-empty list/],
  ['an operation in Python of old', WEBHOOKS, { operation: 'CREATE' }, /there is no option "operation"/],
  ['an empty subresource', WEBHOOKS, { subresource: '' }, /subresource must be a name, or '\*' for all, not ""/],
  ['subresources', WEBHOOKS, { subresource: ['status'] }, /subresource must be a name.*not a list/],
  [
    'a timeout beyond what clusters accept',
    WEBHOOKS,
    { timeoutSeconds: 31 },
    /timeoutSeconds must be a whole number from 1 to 30/,
  ],
  ['no time at all', WEBHOOKS, { timeoutSeconds: 0 }, /timeoutSeconds must be a whole number/],
  ['a textual selector of namespaces', WEBHOOKS, { namespaceSelector: 'a=b' }, /namespaceSelector must be an object/],
  ['a list of object selectors', WEBHOOKS, { objectSelector: [] }, /objectSelector must be an object/],
  ['labels as a selector', WEBHOOKS, { objectSelector: { app: 'web' } }, /objectSelector must be.*and nothing else/],
  [
    'a list of labels in a selector',
    WEBHOOKS,
    { namespaceSelector: { matchLabels: ['app'] } },
    /namespaceSelector must be an object with matchLabels/,
  ],
  [
    'one expression that is not in a list',
    WEBHOOKS,
    { namespaceSelector: { matchExpressions: { key: 'app', operator: 'Exists' } } },
    /namespaceSelector must be an object with matchLabels, matchExpressions/,
  ],
  ['a broken timeout', WEBHOOKS, { timeoutSeconds: 1.5 }, /timeoutSeconds must be a whole number.*not 1.5/],
  ['a textual timeout', WEBHOOKS, { timeoutSeconds: '5' }, /timeoutSeconds must be a whole number.*not "5"/],
  ['conditions as texts', WEBHOOKS, { matchConditions: ['x'] }, /matchConditions must be a non-empty list/],
  ['no conditions', WEBHOOKS, { matchConditions: [] }, /matchConditions must be a non-empty list/],
  [
    'conditions without names',
    WEBHOOKS,
    { matchConditions: [{ expression: 'true' }] },
    /matchConditions must be a non-empty list of { name, expression }/,
  ],
  ...['errors', 'timeout', 'retries', 'backoff'].map((name): (typeof MISTAKES)[number] => [
    `attempts where there are none: ${name}`,
    WEBHOOKS,
    { [name]: 1 },
    new RegExp(`there is no option "${name}"`),
  ]),
  ['a textual persistence', WEBHOOKS, { persistent: 'yes' }, /persistent must be true or false/],
  ['textual side effects', WEBHOOKS, { sideEffects: 'None' }, /sideEffects must be true or false/],
  ['a policy instead of a flag', WEBHOOKS, { ignoreFailures: 'Ignore' }, /ignoreFailures must be true or false/],
];

describe('a mistake is told at once', () => {
  it.each(MISTAKES)('%s', (_title, kinds, options, message) => {
    for (const kind of kinds) {
      const isActivity = ACTIVITIES.includes(kind);
      const given = complete(kind, options);
      const args = isActivity ? [given] : ['kopfexamples', given];
      const isTopLevel = ['index', 'daemon', 'timer'].includes(kind);
      const declaration = `${isTopLevel ? '' : 'on.'}${kind}(${isActivity ? '' : "'kopfexamples'"}) of fn`;

      const mistake = mistakeOf((on) => on[kind](...args, fn));
      expect(mistake.message).toMatch(message);
      expect(mistake.message.startsWith(declaration), mistake.message).toBe(true);
      expect(mistake.code).toBe('KOPF_REGISTRATION');

      const later = mistakeOf((on) => on[kind](...args)(fn));
      expect(later.message).toBe(mistake.message);
    }
  });

  it.each<[string, string, unknown, RegExp]>([
    ['no selector', 'on.create(undefined) of fn: ', undefined, /must be a string, an object/],
    ['a null selector', 'on.create(null) of fn: ', null, /must be a string, an object/],
    ['a list', 'on.create(a list) of fn: ', ['kopf.dev', 'v1', 'x'], /write 'group\/version\/name'/],
    ['no name', 'on.create({"group":"kopf.dev"}) of fn: ', { group: 'kopf.dev' }, /Unspecific resource with no names/],
    [
      'two names',
      'on.create({"kind":"A","plural":"b"}) of fn: ',
      { kind: 'A', plural: 'b' },
      /Ambiguous resource specification/,
    ],
    ['an empty name', "on.create('') of fn: ", '', /Names must not be empty/],
    ['too many parts', "on.create('a/b/c/d') of fn: ", 'a/b/c/d', /Too many parts/],
  ])('in a selector: %s', (_title, declaration, selector, message) => {
    const mistake = mistakeOf((on) => on['create'](selector, {}, fn));
    expect(mistake.message).toMatch(message);
    expect(mistake.message.startsWith(declaration), mistake.message).toBe(true);
    expect(mistake.code).toBe('KOPF_BAD_SELECTOR');
  });

  it.each<[string, (on: Untyped) => unknown, RegExp]>([
    [
      'the handler before the options',
      (on) => on['create']('x', fn, {}),
      /on\.create\('x'\): the handler is an object; expected \(selector, options\?, handler\)/,
    ],
    ['two handlers', (on) => on['create']('x', fn, () => {}), /expected \(selector, options\?, handler\)/],
    ['the same handler twice', (on) => on['create']('x', fn, fn), /expected \(selector/],
    ['one argument too many', (on) => on['create']('kopf.dev', 'v1', 'x', fn), /expected \(selector/],
    ['something after the handler', (on) => on['create']('x', {}, fn, {}), /expected \(selector/],
    ['two selectors', (on) => on['create']('kopf.dev', 'x', fn), /expected \(selector/],
    ['options that are null', (on) => on['create']('x', null, fn), /expected \(selector/],
    ['options that are a list', (on) => on['create']('x', [], fn), /expected \(selector/],
    [
      'a handler that is not there (yet)',
      (on) => on['create']('x', {}, undefined),
      /the handler is undefined; expected/,
    ],
    [
      'a handler of an activity that is not there',
      (on) => on['startup']({}, undefined),
      /on\.startup\(\): the handler is undefined; expected \(options\?, handler\)/,
    ],
    ['a name instead of an activity', (on) => on['startup']('x', fn), /expected \(options\?, handler\)/],
    ['no function at last', (on) => on['create']('x')('fn'), /on\.create\('x'\): only functions and methods/],
    ['no function at all', (on) => on['startup']()(), /on\.startup\(\): only functions and methods/],
  ])('in the arguments: %s', (_title, declare, message) => {
    expect(mistakeOf(declare).message).toMatch(message);
  });

  it('names the handler by its id, if it has one', () => {
    const { message } = mistakeOf((on) => on['create']('x', { id: 'mine', retries: -1 }, fn));
    expect(message).toMatch(/^on\.create\('x'\) of mine: /);
  });

  it('names at least the declaration of what has no name', () => {
    const { message } = mistakeOf((on) => on['daemon'](EVERYTHING, { retries: -1 }, () => {}));
    expect(message).toMatch(/^daemon\(EVERYTHING\): retries/);
    const isMine = () => true;
    expect(mistakeOf((on) => on['timer'](isMine, { idle: -1 }, () => {})).message).toMatch(/^timer\(isMine\): idle/);
  });
});

describe('what is no mistake', () => {
  it.each<[string, (on: Untyped) => unknown]>([
    ['no options', (on) => on['create']('x', fn)],
    ['undefined options', (on) => on['create']('x', undefined, fn)],
    [
      'options with nothing in them',
      (on) =>
        on['create'](
          'x',
          {
            id: undefined,
            labels: undefined,
            field: undefined,
            value: undefined,
            retries: undefined,
            backoff: undefined,
          },
          fn,
        ),
    ],
    ['an empty field', (on) => on['create']('x', { field: '' }, fn)],
    ['no attempts', (on) => on['create']('x', { retries: 0, timeout: 0, backoff: 0 }, fn)],
    ['a growing backoff', (on) => on['create']('x', { backoff: { min: 1, max: 60 } }, fn)],
    ['a growing backoff in full', (on) => on['create']('x', { backoff: { min: 1, max: 1, factor: 1, jitter: 1 } }, fn)],
    ['old and new together', (on) => on['update']('x', { field: 'spec', old: 1, new: 2 }, fn)],
    ['keys with dots', (on) => on['field']('x', { field: ['metadata', 'labels', 'a.b/c', ''] }, fn)],
    ['a timer with nothing at all', (on) => on['timer']('x', {}, fn)],
    [
      'all of admission',
      (on) =>
        on['mutate'](
          'x',
          {
            operations: ['CREATE'],
            subresource: '*',
            persistent: true,
            sideEffects: false,
            ignoreFailures: true,
            timeoutSeconds: 30,
            namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
            objectSelector: { matchLabels: { a: 'b' }, matchExpressions: [] },
            matchConditions: [{ name: 'a', expression: 'b' }],
          },
          fn,
        ),
    ],
    ['a method of an object', (on) => on['create']('x', { method() {} }.method)],
  ])('%s', (_title, declare) => {
    const { registry, on } = untyped();
    declare(on);
    expect(Object.values(registry.handlers).flatMap((family) => [...family])).toHaveLength(1);
  });
});

describe('Resuming', () => {
  it.each([
    [{ only: 'modified' }, "on.resume('kopfexamples') of r: only must be 'unmodified', not \"modified\""],
    [{ only: 'unmodified', deleted: true }, 'an object that is being deleted is not unmodified'],
  ])('is not declared with %j', (options, message) => {
    const { on } = createRegistry();
    expect(() => on.resume('kopfexamples', { id: 'r', ...options } as never, () => {})).toThrow(message);
  });
});

describe('Handlers of events', () => {
  it.each([
    [{ errors: 'temporary' }, 'errors must be one of ignored, retry, not "temporary"'],
    [{ retries: 5 }, "retries needs several attempts, but by default, there is only one: add errors: 'retry'"],
    [{ errors: 'ignored', backoff: 5 }, 'backoff needs several attempts'],
  ])('are not declared with %j', (options, message) => {
    const { on } = createRegistry();
    expect(() => on.event('kopfexamples', { id: 'e', ...options } as never, () => {})).toThrow(message);
  });
});
