import { describe, expect, it } from 'vitest';
import { normalise } from '../harness/normalise.js';
import type { Trace } from '../harness/runner.js';

const traceOf = (answers: readonly unknown[], rest: Partial<Trace> = {}): Trace => ({
  exchanges: answers.map((answer) => ({ step: 'GET /', answer })),
  answers,
  id: 'r0123',
  names: new Map(),
  prefixes: [],
  causesComeInAnyOrder: false,
  ...rest,
});
const normalised = (answers: readonly unknown[], rest?: Partial<Trace>) =>
  normalise(traceOf(answers, rest)).map(({ answer }) => answer);
const version = (resourceVersion: string) => ({ metadata: { resourceVersion } });

describe('before answers are compared', () => {
  it('versions are numbered in their order, whatever they are', () => {
    expect(normalised([version('42'), version('7'), version('42')])).toEqual([
      version('<version 2>'),
      version('<version 1>'),
      version('<version 2>'),
    ]);
  });

  it('versions of lists and bookmarks get the number of the last object before them', () => {
    const list = { items: [version('5')], ...version('9') };
    const bookmark = { type: 'BOOKMARK', object: version('6') };
    expect(normalised([list, bookmark, version('12')])).toEqual([
      { items: [version('<version 1>')], ...version('<version 1>') },
      { type: 'BOOKMARK', object: version('<version 1>') },
      version('<version 2>'),
    ]);
  });

  it('versions within tokens and messages are numbered, too', () => {
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 8, start: '/a\0' })).toString('base64url');
    const message = 'the ResourceVersion in the precondition (7) does not match the ResourceVersion in record (8).';
    expect(normalised([version('7'), version('8'), { continue: token, message }])[2]).toEqual({
      continue: { v: 'meta.k8s.io/v1', rv: '<version 2>', start: '/a\0' },
      message:
        'the ResourceVersion in the precondition (<version 1>) does not match the ResourceVersion in record (<version 2>).',
    });
  });

  it('uids are masked, but remain the same for the same object', () => {
    const [first, second] = ['11111111-2222-3333-4444-555555555555', '66666666-7777-8888-9999-aaaaaaaaaaaa'];
    expect(normalised([{ uid: first, owner: second }, { message: `not ${second}` }])).toEqual([
      { uid: '<uid 2>', owner: '<uid 1>' },
      { message: 'not <uid 1>' },
    ]);
  });

  it('times of now are masked by their precision, others stay', () => {
    const now = new Date().toISOString();
    expect(normalised([[now, `${now.slice(0, 19)}Z`, '2020-01-02T03:04:05Z']])).toEqual([
      ['<time with 3 digits>', '<time>', '2020-01-02T03:04:05Z'],
    ]);
  });

  it('random names are masked only if they are made as names are made', () => {
    const names = ['cm-bcd24', 'cm-aeiou', 'cm-bcd245'];
    expect(normalised([names], { prefixes: ['cm-'] })).toEqual([['cm-<random>', 'cm-aeiou', 'cm-bcd245']]);
  });

  it('names of the run are taken back', () => {
    const names = new Map([['https://127.0.0.1:1234', '<server>']]);
    expect(normalised([{ at: 'https://127.0.0.1:1234/ns-r0123' }], { names })).toEqual([{ at: '<server>/ns-<id>' }]);
  });

  it('causes are put into one order only where that is said', () => {
    const causes = [
      { field: 'b', message: 'no' },
      { field: 'a', message: 'no' },
    ];
    const refusal = { body: { message: 'x is invalid: [b: no, a: no]', details: { causes } } };
    expect(normalised([refusal])).toEqual([refusal]);
    expect(normalised([refusal], { causesComeInAnyOrder: true })).toEqual([
      { body: { message: 'x is invalid: [a: no, b: no]', details: { causes: [causes[1], causes[0]] } } },
    ]);
  });

  describe('mere bookmarks', () => {
    const [mark, added] = [
      { type: 'BOOKMARK', object: {} },
      { type: 'ADDED', object: {} },
    ];
    const end = { type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } };

    it('come at any time, and so they do not count', () => {
      const watched = { events: [mark, added, mark, added], closedBy: 'us' };
      expect(normalised([watched])).toEqual([{ events: [added, added], closedBy: 'us' }]);
    });

    it('remain as one at the end of a watch that the server has closed', () => {
      const watched = { events: [added, mark, added, mark, mark], closedBy: 'server' };
      expect(normalised([watched])).toEqual([{ events: [added, added, mark], closedBy: 'server' }]);
    });

    it('do not tell of the end of the initial events: that one stays in its place', () => {
      const watched = { events: [added, end, mark, added], closedBy: 'us' };
      expect(normalised([watched])).toEqual([{ events: [added, end, added], closedBy: 'us' }]);
    });
  });
});
