import { describe, expect, it } from 'vitest';
import { KopfError } from '../src/errors.js';
import { type SettingsOverrides, settings } from '../src/settings.js';

/** All groups, all fields, and what they are before anybody has touched them. */
const DEFAULTS = {
  process: { ultimateExitingTimeout: 25, onStray: 'exit' },
  posting: {
    enabled: true,
    loggers: false,
    level: 'info',
    reportingComponent: 'kopf',
    reportingInstance: 'dev',
    eventNamePrefix: 'kopf-event-',
  },
  peering: {
    name: 'default',
    stealth: false,
    priority: 0,
    lifetime: 60,
    mandatory: false,
    standalone: false,
    clusterwide: false,
    namespaced: true,
  },
  watching: {
    serverTimeout: { min: 300, max: 600 },
    clientTimeout: undefined,
    connectTimeout: 5,
    reconnectBackoff: 0.1,
    inactivityTimeout: 70,
    lineTimeout: 300,
    unhealthyAfter: 300,
    maxLineSize: 33_554_432,
    selectsByHandlers: true,
    selectors: {},
  },
  queueing: {
    workerLimit: 100,
    eventsLimit: 100,
    idleTimeout: 5,
    exitTimeout: 2,
    errorDelays: [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610],
  },
  scanning: { disabled: false },
  admission: { server: undefined, managed: undefined },
  execution: { defaultBackoff: 60, maxDelay: 86_400 },
  background: { cancellationPolling: 60, instantExitTimeout: undefined, instantExitZeroTimeCycles: 10 },
  networking: {
    requestTimeout: 300,
    connectTimeout: 5,
    headersTimeout: 30,
    errorBackoffs: [1, 1, 2, 3, 5, 8, 13, 21],
    enforceRetryAfter: false,
    maxRetryAfter: 60,
    maxAnswerSize: 268_435_456,
    failingWritesTimeout: 30,
    trustEnv: false,
  },
  persistence: {
    finalizer: 'kopf.zalando.org/KopfFinalizerMarker',
    pauseAnnotation: 'kopf.zalando.org/paused-until',
    progressStorage: undefined,
    diffbaseStorage: undefined,
    consistencyTimeout: 5,
    compat: undefined,
    secretsInDiffBase: false,
  },
  metrics: { endpoint: undefined },
  insight: {
    admin: undefined,
    console: undefined,
    tokenFile: undefined,
    journalSize: 16_000_000,
    sensitiveFields: [],
  },
};

describe('the settings of an operator', () => {
  it('are these groups with these fields and defaults, and no others', () => {
    const all = settings();
    expect(Object.keys(all)).toEqual(Object.keys(DEFAULTS));
    for (const group of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
      expect({ group, ...all[group] }).toStrictEqual({ group, ...DEFAULTS[group] });
    }
  });

  it('can be given, each on its own, with all others as they are by default', () => {
    const given = settings({ peering: { priority: 5 }, persistence: { finalizer: 'example.com/fin' }, scanning: {} });
    expect(given.peering).toMatchObject({ priority: 5, name: 'default' });
    expect(given.persistence).toMatchObject({ finalizer: 'example.com/fin', consistencyTimeout: 5 });
    expect(given.scanning).toEqual({ disabled: false });
  });

  it('can be switched off with undefined, where they have such a meaning', () => {
    const given = settings({ queueing: { workerLimit: undefined }, watching: { serverTimeout: undefined } });
    expect(given.queueing.workerLimit).toBeUndefined();
    expect(given.watching.serverTimeout).toBeUndefined();
  });

  it('take groups that are not there for groups with nothing in them', () => {
    expect(settings({ peering: undefined } as unknown as SettingsOverrides).peering.name).toBe('default');
  });

  it('are of one operator: another one has its own', () => {
    const one = settings();
    const other = settings();
    one.posting.level = 'warn';
    (one.queueing.errorDelays as number[]).push(999);
    expect(other.posting.level).toBe('info');
    expect(other.queueing.errorDelays).not.toContain(999);
  });

  it('are changed at any time', () => {
    const all = settings();
    all.execution.defaultBackoff = 1;
    all.networking.errorBackoffs = 5;
    all.persistence.compat = 'kopf';
    expect([all.execution.defaultBackoff, all.networking.errorBackoffs, all.persistence.compat]).toEqual([
      1,
      5,
      'kopf',
    ]);
  });

  it.each([
    [{ pearing: {} }, '"pearing"', 'peering'],
    [{ peering: { prio: 1 } }, '"peering.prio"', 'priority'],
    [{ batching: {} }, '"batching"', 'queueing'],
    [{ queueing: { batchWindow: 1 } }, '"queueing.batchWindow"', 'workerLimit'],
    [{ execution: { executor: {} } }, '"execution.executor"', 'defaultBackoff'],
    [{ execution: { maxWorkers: 1 } }, '"execution.maxWorkers"', 'defaultBackoff'],
    [JSON.parse('{"__proto__": {"polluted": true}}'), '"__proto__"', 'process'],
    [{ constructor: { prototype: {} } }, '"constructor"', 'process'],
    [{ peering: JSON.parse('{"__proto__": {"polluted": true}}') }, '"peering.__proto__"', 'priority'],
    [{ peering: { toString: 1 } }, '"peering.toString"', 'priority'],
  ])('that do not exist are refused, with those that do: %j', (overrides, named, known) => {
    const attempt = () => settings(overrides as SettingsOverrides);
    expect(attempt).toThrow(KopfError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'KOPF_UNKNOWN_SETTING' }));
    expect(attempt).toThrow(named);
    expect(attempt).toThrow(known);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('settings that do not exist', () => {
  it('cannot be assigned either, so that a misspelt one is noticed', () => {
    const all = settings() as unknown as Record<string, Record<string, unknown>>;
    expect(() => {
      Object.assign(all['posting'] ?? {}, { enable: false });
    }).toThrow(/enable/);
    expect(() => {
      all['postings'] = {};
    }).toThrow(/postings/);
    expect(() => {
      (all['watching'] ?? {})['serverTimeuot'] = 5;
    }).toThrow(/There is no setting "watching.serverTimeuot". Known here: serverTimeout, /);
  });
});

describe('the scope of the peering', () => {
  it.each([true, false])('is either of the cluster or of namespaces, whichever is set: %s', (value) => {
    const { peering } = settings();
    peering.clusterwide = value;
    expect(peering.namespaced).toBe(!value);
    peering.namespaced = value;
    expect(peering.clusterwide).toBe(!value);
  });

  it('can be given by either name', () => {
    expect(settings({ peering: { namespaced: false } }).peering.clusterwide).toBe(true);
    expect(settings({ peering: { clusterwide: true } }).peering.namespaced).toBe(false);
  });
});
