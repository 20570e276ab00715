import { describe, expect, it } from 'vitest';
import type { Call, Edit, History, LineWrite, Promises, Remnant } from './history.js';
import { describeFindings, report } from './report.js';
import { judge } from './verify.js';

const FINALIZER = 'kopf.zalando.org/KopfFinalizerMarker';
const PROMISES: Record<string, Promises> = {
  things: {
    chains: [{ handlers: ['made', 'changed'], value: 'round' }],
    deletions: ['gone'],
    daemons: ['watcher'],
    timers: ['pulse'],
    effects: ({ round }) => ({ port: round }),
  },
};

// A story of one object that ends well; each test tells it a bit differently. Seconds are from its beginning.
const at = (seconds: number): number => 1_000_000 + seconds * 1000;
const valuesOf = (round: number) => ({ edit: round, round, size: 0 });

function call(handler: string, seconds: number, other: Partial<Call> = {}): Call {
  const { round = 0 } = other.values ?? {};
  return {
    run: 1,
    began: at(seconds),
    ended: at(seconds + 0.1),
    outcome: 'succeeded',
    uid: 'u1',
    key: 'things/one',
    handler,
    kind: 'change',
    retry: 0,
    seen: `round ${round}`,
    values: valuesOf(round),
    ...other,
  };
}

/** A call whose process ends before it. */
function cutOff(handler: string, seconds: number, other: Partial<Call> = {}): Call {
  const { ended, outcome, ...rest } = call(handler, seconds, other);
  void [ended, outcome];
  return rest;
}

function edit(what: Edit['what'], seconds: number, round = 0, other: Partial<Edit> = {}): Edit {
  return { at: at(seconds), what, uid: 'u1', key: 'things/one', values: valuesOf(round), ...other };
}

function write(from: number, to: number, other: Partial<LineWrite> = {}): LineWrite {
  const usual = { method: 'PATCH', status: 200, isApplied: true, fate: 'delivered', marks: [] } as const;
  return { from: at(from), to: at(to), key: 'things/one', ...usual, ...other };
}

function remnant(round: number, other: Partial<Remnant> = {}): Remnant {
  return {
    uid: 'u1',
    key: 'things/one',
    isDeleting: false,
    finalizers: [FINALIZER],
    marks: [],
    lastHandled: 'equal',
    values: valuesOf(round),
    effects: { port: round },
    ...other,
  };
}

const running = cutOff('watcher', 1, { kind: 'daemon', seen: '' });
const ticking = call('pulse', 51, { kind: 'timer', seen: '' });
const life = [running, ticking];

function story(other: Partial<History> = {}): History {
  return {
    edits: [edit('create', 0), edit('edit', 10, 1)],
    calls: [call('made', 1), call('changed', 11, { values: valuesOf(1) }), ...life],
    writes: [],
    blows: [],
    calmSince: at(50),
    settledAt: at(60),
    settled: [remnant(1)],
    left: [],
    accidents: [],
    ...other,
  };
}

const findingsOf = (history: History): string[] =>
  judge(history, PROMISES).findings.map(({ what, text }) => `${what}: ${text}`);
const doubtsOf = (history: History) => judge(history, PROMISES).duplicates.map(({ doubt }) => doubt);

describe('the judge of a run', () => {
  it('has nothing to say if all is well', () => {
    expect(judge(story(), PROMISES)).toEqual({ findings: [], duplicates: [] });
  });

  describe('finds what is lost:', () => {
    it.each<[title: string, changes: Partial<History>, text: RegExp]>([
      [
        'an edit that nobody has seen',
        { calls: [call('made', 1), ...life] },
        /^lost: 'made' has seen round 0 last, and nobody of its chain round 1$/,
      ],
      [
        'an edit that was seen, but not last',
        {
          calls: [
            call('changed', 11, { values: valuesOf(1) }),
            call('made', 12, { values: valuesOf(1), seen: 'x' }),
            call('made', 13),
            ...life,
          ],
        },
        /^lost: 'made' has seen round 0 last/,
      ],
      [
        'an edit whose handler has only failed',
        { calls: [call('made', 1), call('changed', 11, { values: valuesOf(1), outcome: 'failed' }), ...life] },
        /^lost: 'made' has seen round 0 last/,
      ],
      [
        'an edit whose handler was only called when the object was deleted',
        { calls: [call('made', 1), call('changed', 61, { values: valuesOf(1) }), ...life] },
        /^lost: 'made' has seen round 0 last/,
      ],
      [
        'an object that was never handled',
        { edits: [edit('create', 0, 1)], calls: life },
        /^lost: no success of 'made' or 'changed'/,
      ],
      [
        'what a handler wrote',
        { settled: [remnant(1, { effects: { port: 0 } })] },
        /^lost: port is 0 in the object, and should be 1$/,
      ],
      ['the object itself', { settled: [] }, /^lost: the object itself is not there/],
      [
        'a deletion',
        {
          edits: [edit('create', 0), edit('delete', 20, 0, { isBlocked: true })],
          calls: [call('made', 1)],
          settled: [],
        },
        /^lost: no success of 'gone'/,
      ],
      [
        'the deletion of what was there to the end',
        { edits: [...story().edits, edit('delete', 70, 1, { isBlocked: true })] },
        /^lost: no success of 'gone'/,
      ],
    ])('%s', (_title, changes, text) => {
      const findings = findingsOf(story(changes)).filter((finding) => finding.startsWith('lost'));
      expect(findings).toEqual([expect.stringMatching(text)]);
    });

    it('but not edits that later ones have made obsolete, nor those of deleted objects', () => {
      const edits = [edit('create', 0), edit('edit', 9, 1), edit('edit', 10, 2)];
      const calls = [call('made', 1), call('changed', 11, { values: valuesOf(2) }), ...life];
      expect(findingsOf(story({ edits, calls, settled: [remnant(2)] }))).toEqual([]);
      const deleted = [...edits, edit('delete', 12, 2, { isBlocked: true })];
      const gone = call('gone', 13, { kind: 'deletion', seen: 'deletion', values: valuesOf(2) });
      expect(findingsOf(story({ edits: deleted, calls: [call('made', 1), gone], settled: [] }))).toEqual([]);
    });

    it('but not deletions that nothing has held up', () => {
      const edits = [edit('create', 0), edit('delete', 1, 0, { isBlocked: false })];
      expect(findingsOf(story({ edits, calls: [], settled: [] }))).toEqual([]);
    });
  });

  describe('finds what is stuck:', () => {
    it.each<[title: string, changes: Partial<History>, text: RegExp]>([
      [
        'an object that is never gone',
        { settled: [remnant(1, { isDeleting: true })] },
        /^stuck: is still being deleted/,
      ],
      ['an object in progress', { settled: [remnant(1, { marks: ['made'] })] }, /^stuck: is still in progress: made$/],
      [
        'an old last handled state',
        { settled: [remnant(1, { lastHandled: 'different' })] },
        /^stuck: the last handled state is different$/,
      ],
      [
        'no last handled state',
        { settled: [remnant(1, { lastHandled: 'absent' })] },
        /^stuck: the last handled state is absent$/,
      ],
      [
        'no daemon',
        { calls: [...story().calls.filter(({ kind }) => kind !== 'daemon')] },
        /^stuck: 0 daemons 'watcher' run for it$/,
      ],
      ['a timer that does not tick any more', { calmSince: at(55) }, /^stuck: timer 'pulse' does not tick$/],
      [
        'no daemon in the newest process',
        { calls: [...story().calls, call('pulse', 52, { run: 2, kind: 'timer', seen: '' })] },
        /^stuck: 0 daemons/,
      ],
      [
        'an object without a finalizer',
        { settled: [remnant(1, { finalizers: [] })] },
        /^missing finalizer: has finalizers: none$/,
      ],
    ])('%s', (_title, changes, text) => {
      expect(findingsOf(story(changes))).toEqual([expect.stringMatching(text)]);
    });
  });

  it('finds finalizers that are left behind', () => {
    const left = [remnant(1, { isDeleting: true })];
    expect(findingsOf(story({ left }))).toEqual([`leaked finalizer: cannot be deleted: ${FINALIZER}`]);
  });

  it('finds operators that have ended by themselves', () => {
    expect(findingsOf(story({ accidents: ['It has ended.'] }))).toEqual(['accident: It has ended.']);
  });

  it('finds handlers that see an older state after a newer one', () => {
    const calls = [
      ...story().calls,
      call('changed', 20, { seen: 'x', values: valuesOf(0) }),
      call('changed', 21, { seen: 'y', values: valuesOf(1) }),
    ];
    expect(findingsOf(story({ calls }))).toEqual(["went back: 'changed' has seen edit 0 after edit 1"]);
  });

  it.each<[title: string, ended: number | undefined]>([
    ['ends later', at(3)],
    ['never ends', undefined],
  ])('finds calls of one handler at the same time, if the first one %s', (_title, ended) => {
    const first = ended === undefined ? cutOff('made', 1) : call('made', 1, { ended });
    const calls = [first, call('made', 2, { seen: 'other' }), ...story().calls.slice(1)];
    expect(findingsOf(story({ calls }))).toEqual([expect.stringMatching(/^two at once: 'made' began while/)]);
  });

  describe('finds duplicates', () => {
    const twice = (second: Partial<Call> = {}, first: Partial<Call> = {}) => [
      call('made', 1, first),
      call('made', 5, second),
      ...story().calls.slice(1),
    ];
    /** The second one by another process, which goes on with everything else as well. */
    const twiceOver = (second: Partial<Call> = {}, first: Partial<Call> = {}) => [
      ...twice({ run: 2, ...second }, first),
      cutOff('watcher', 6, { run: 2, kind: 'daemon', seen: '' }),
      call('pulse', 52, { run: 2, kind: 'timer', seen: '' }),
    ];
    const hasKills = ({ blows = [] }: Partial<History>) => blows.some(({ kind }) => kind === 'kill');
    /** Of the same calls, which differ in what has happened in between. */
    const judged = (changes: Partial<History>, calls = hasKills(changes) ? twiceOver() : twice()) => {
      const history = story({ ...changes, calls });
      return [...doubtsOf(history), ...findingsOf(history).map((text) => text.split(':')[0])];
    };

    it.each<[title: string, calls: readonly Call[]]>([
      ['of successes', twice()],
      ['of failures that were not counted', twice({ retry: 0 }, { outcome: 'failed' })],
      ['that are counted as retries after a success', twice({ retry: 1 })],
      ['in another process', twiceOver()],
    ])('that nothing explains: %s', (_title, calls) => {
      expect(findingsOf(story({ calls }))).toEqual([
        expect.stringMatching(/^unexplained duplicate: 'made' was called for round 0/),
      ]);
    });

    it.each<[title: string, calls: readonly Call[]]>([
      ['retries', twice({ retry: 1 }, { outcome: 'failed' })],
      ['retries over a restart', twiceOver({ retry: 1 }, { outcome: 'failed' })],
      ['parents whose parts are not done', twice({ retry: 1, kind: 'parent' }, { kind: 'parent' })],
      ['calls for something new', twice({ seen: 'label 2' })],
      ['ticks', [...story().calls, call('pulse', 53, { kind: 'timer', seen: '' })]],
    ])('but not among %s', (_title, calls) => {
      expect(judge(story({ calls }), PROMISES)).toEqual({ findings: [], duplicates: [] });
    });

    it.each<[title: string, doubt: string, changes: Partial<History>]>([
      ['a lost answer', 'answer lost', { writes: [write(2, 3, { fate: 'answer lost' })] }],
      ['a broken connection', 'reset', { writes: [write(2, 3, { fate: 'reset', isApplied: false, status: 0 })] }],
      ['a request given up', 'given up by the client', { writes: [write(0.5, 4, { fate: 'given up by the client' })] }],
      ['a server that is down', 'server down', { writes: [write(2, 9, { fate: 'server down' })] }],
      ['an error of the server', 'HTTP 503', { writes: [write(2, 3, { status: 503, isApplied: false })] }],
      ['a kill', 'kill', { blows: [{ kind: 'kill', from: at(2), to: at(2.1) }] }],
      [
        'a kill before it was stored',
        'kill',
        { blows: [{ kind: 'kill', from: at(2), to: at(2.1) }], writes: [write(2.5, 3, { marks: ['made'] })] },
      ],
      [
        'a kill right after it was stored, while it is not stored yet what was made of it',
        'kill',
        { blows: [{ kind: 'kill', from: at(3), to: at(3.1) }], writes: [write(2, 2.5, { marks: ['made'] })] },
      ],
      [
        'a kill, when something else was stored',
        'kill',
        { blows: [{ kind: 'kill', from: at(3), to: at(3.1) }], writes: [write(2, 2.5, { marks: ['unmade'] })] },
      ],
      [
        'a kill, when storing was refused',
        'kill',
        {
          blows: [{ kind: 'kill', from: at(3), to: at(3.1) }],
          writes: [write(2, 2.5, { marks: ['made'], isApplied: false, status: 409 })],
        },
      ],
      ['a stop', 'stop', { blows: [{ kind: 'stop', from: at(2), to: at(4) }], writes: [write(1.5, 4.1)] }],
      [
        'a break of all connections, if a request is repeated',
        'break of all connections',
        { blows: [{ kind: 'break of all connections', from: at(2), to: at(2) }], writes: [write(2.5, 2.6)] },
      ],
    ])('explained by %s', (_title, doubt, changes) => {
      expect(judged(changes)).toEqual([doubt]);
    });

    it.each<[title: string, changes: Partial<History>]>([
      ['an answer that was lost before', { writes: [write(0, 0.5, { fate: 'answer lost' })] }],
      ['an answer that was lost afterwards', { writes: [write(6, 7, { fate: 'answer lost' })] }],
      ['an answer about another object', { writes: [write(2, 3, { fate: 'answer lost', key: 'things/two' })] }],
      ['a request to come later', { writes: [write(2, 3, { status: 429, isApplied: false })] }],
      ['a conflict', { writes: [write(2, 3, { status: 409, isApplied: false })] }],
      [
        'a kill long after it was stored',
        { blows: [{ kind: 'kill', from: at(4.2), to: at(4.3) }], writes: [write(2, 2.5, { marks: ['made'] })] },
      ],
      [
        'a kill after all was done',
        {
          blows: [{ kind: 'kill', from: at(3), to: at(3.1) }],
          writes: [write(2, 2.5, { marks: ['last-handled-configuration'] })],
        },
      ],
      ['a stop without any request', { blows: [{ kind: 'stop', from: at(2), to: at(4) }] }],
      [
        'a break of all connections long before a request',
        { blows: [{ kind: 'break of all connections', from: at(2), to: at(2) }], writes: [write(4.5, 4.6)] },
      ],
    ])('not explained by %s', (_title, changes) => {
      expect(judged(changes)).toEqual([undefined, 'unexplained duplicate']);
    });

    it('in one process, which the end of another one does not explain', () => {
      const blows = [{ kind: 'kill', from: at(2), to: at(2.1) }] as const;
      expect(judged({ blows }, twice())).toEqual([undefined, 'unexplained duplicate']);
    });

    it('of which one doubt explains only one for each handler', () => {
      const writes = [write(2, 9, { fate: 'answer lost' })];
      const calls = [...twice(), call('made', 7), call('changed', 12, { values: valuesOf(1) })];
      expect(judged({ writes }, calls).slice(0, 2)).toEqual(['answer lost', undefined]);
      const other = [...twice(), call('other', 3, { seen: 'x' }), call('other', 4, { seen: 'x' })];
      expect(judged({ writes }, other)).toEqual(['answer lost', 'answer lost']);
    });

    it('of deletions in one process, which nothing explains', () => {
      const gone = (seconds: number, other: Partial<Call> = {}) =>
        call('gone', seconds, { kind: 'deletion', seen: 'deletion', ...other });
      const edits = [edit('create', 0), edit('delete', 2, 0, { isBlocked: true })];
      const writes = [write(3, 4, { fate: 'answer lost' })];
      const repeated = story({ edits, writes, settled: [], calls: [gone(3), gone(5)] });
      expect(findingsOf(repeated)).toEqual([expect.stringMatching(/^repeated deletion: 'gone' has succeeded/)]);
      const resumed = story({ edits, writes, settled: [], calls: [gone(3), gone(5, { run: 2 })] });
      expect(judge(resumed, PROMISES)).toMatchObject({ findings: [], duplicates: [{ doubt: 'answer lost' }] });
      const retried = story({ edits, settled: [], calls: [gone(3, { outcome: 'failed' }), gone(5, { retry: 1 })] });
      expect(judge(retried, PROMISES)).toEqual({ findings: [], duplicates: [] });
    });
  });

  it('tells the history of the object with each finding, and the counts', () => {
    const history = story({
      calls: [call('made', 1), call('made', 5), ...story().calls.slice(1)],
      writes: [write(1.2, 1.3, { marks: ['made'] }), write(2, 3, { key: 'things/two' })],
    });
    const judgement = judge(history, PROMISES);
    const details = describeFindings(history, judgement.findings);
    expect(details.split('\n').map((line) => line.replace(/ \d\d:\d\d:\d\d\.\d+/, ''))).toEqual([
      "UNEXPLAINED DUPLICATE: things/one 'made' was called for round 0 (retry 0), 4000 ms after a call in the same process that succeeded (retry 0)",
      '    writer: create (edit 0, round 0, size 0)',
      '    process 1: made, retry 0, saw round 0: succeeded in 100 ms',
      '    process 1: watcher, retry 0, saw : never ended',
      '    line: PATCH [made] 200, applied, delivered, 100 ms',
      '    process 1: made, retry 0, saw round 0: succeeded in 100 ms',
      '    writer: edit (edit 1, round 1, size 0)',
      '    process 1: changed, retry 0, saw round 1: succeeded in 100 ms',
    ]);
    const summary = { seed: 1, seconds: 2, runs: 3, faults: { reset: 4 } };
    expect(report(summary, history, judgement)).toContain('findings: 1 (1 × unexplained duplicate)');
    expect(report(summary, history, judgement)).toContain('duplicates: 1, explained: 0 (none)');
  });
});
