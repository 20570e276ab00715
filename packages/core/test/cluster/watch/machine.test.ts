import { describe, expect, it } from 'vitest';
import {
  afterConnection,
  type Doing,
  type Ending,
  LISTING,
  NO_TROUBLES,
  PAUSED,
  type Reach,
  type Troubles,
} from '../../../src/cluster/watch/machine.js';
import { apiError } from '../../../src/errors.js';

const PACE = { reconnectBackoff: 0.1, lineTimeout: 60, random: () => 1 };
const WATCHING: Doing = { kind: 'watching', version: '7' };
const NEW: Reach = { doing: WATCHING, isListStreamed: false, isProven: false };
const PROVEN: Reach = { ...NEW, isProven: true };
const PAGED: Reach = { ...NEW, doing: LISTING };
const STREAMED: Reach = { ...PAGED, isListStreamed: true };

function failed(error: unknown): Ending {
  return { kind: 'failed', error };
}

function status(code: number, extra: { retryAfter?: number } = {}): Ending {
  return failed(apiError({ status: code, ...extra }));
}

function after(ending: Ending, reach: Reach, troubles: Partial<Troubles> = {}) {
  return afterConnection(ending, reach, { ...NO_TROUBLES, ...troubles }, PACE);
}

const CUT = failed(new TypeError('cut'));
const UNDECODABLE = failed(new SyntaxError('no JSON'));

describe('after a connection, the stream', () => {
  it.each<[string, Ending, Reach, Partial<Troubles>, object]>([
    [
      'watches what it has listed',
      { kind: 'listed', version: '9', isDoubtful: false },
      PAGED,
      {},
      { kind: 'watching', version: '9' },
    ],
    [
      'lists again soon what was malformed',
      { kind: 'listed', version: '9', isDoubtful: true },
      PAGED,
      {},
      { kind: 'backing off', delay: 1, next: LISTING },
    ],
    ['goes on if the server has ended it', { kind: 'closed' }, PROVEN, {}, WATCHING],
    [
      'waits a little if the server has ended it at once',
      { kind: 'closed' },
      NEW,
      {},
      { kind: 'backing off', delay: 0.1, next: WATCHING },
    ],
    [
      'waits no longer than a second for that',
      { kind: 'closed' },
      NEW,
      { failures: 50 },
      { kind: 'backing off', delay: 1, next: WATCHING },
    ],
    ['lists in pages if the list has ended without its end', { kind: 'closed' }, STREAMED, {}, LISTING],
    ['is paused', { kind: 'interrupted', why: 'paused' }, PROVEN, {}, PAUSED],
    ['goes on after a silence', { kind: 'interrupted', why: 'inactive' }, PROVEN, {}, WATCHING],
    [
      'lists in pages after a silence instead of the list',
      { kind: 'interrupted', why: 'inactive' },
      STREAMED,
      {},
      LISTING,
    ],
    [
      'lists what a line did not bring in time',
      { kind: 'interrupted', why: 'overdue' },
      PROVEN,
      {},
      { kind: 'backing off', delay: 0.1, next: LISTING },
    ],
    ['lists in pages what has no end as a stream', { kind: 'interrupted', why: 'endless' }, STREAMED, {}, LISTING],
    ['lists what it could not understand', { kind: 'interrupted', why: 'doubtful' }, PROVEN, {}, LISTING],
    ['lists what was restored', { kind: 'interrupted', why: 'rewound' }, PROVEN, {}, LISTING],
    ['goes on at once if a working connection is cut', CUT, PROVEN, { failures: 5 }, WATCHING],
    ['goes on later if it never worked', CUT, NEW, {}, { kind: 'backing off', delay: 0.1, next: WATCHING }],
    ['waits longer with each failure', CUT, NEW, { failures: 3 }, { kind: 'backing off', delay: 0.8, next: WATCHING }],
    ['waits no longer than that', CUT, NEW, { failures: 50 }, { kind: 'backing off', delay: 10, next: WATCHING }],
    [
      'waits as long as the server says',
      status(429, { retryAfter: 20 }),
      NEW,
      {},
      { kind: 'backing off', delay: 22, next: WATCHING },
    ],
    ['lists if the version has expired', status(410), PROVEN, {}, { kind: 'backing off', delay: 0.1, next: LISTING }],
    [
      'goes on if it is refused',
      status(500),
      NEW,
      { refusals: 1 },
      { kind: 'backing off', delay: 0.1, next: WATCHING },
    ],
    [
      'lists if it is refused again and again',
      status(500),
      NEW,
      { refusals: 2 },
      { kind: 'backing off', delay: 0.1, next: LISTING },
    ],
    [
      'lists again if the listing has failed',
      status(500),
      PAGED,
      {},
      { kind: 'backing off', delay: 0.1, next: LISTING },
    ],
    ['lists in pages if the server knows nothing else', status(422), STREAMED, {}, LISTING],
    ['lists in pages if it may not watch', status(403), STREAMED, {}, LISTING],
    ['tries once more what cannot be decoded', UNDECODABLE, PROVEN, {}, WATCHING],
    ['lists what cannot be decoded twice', UNDECODABLE, PROVEN, { undecodables: 1 }, LISTING],
    ['does not list it each time', UNDECODABLE, PROVEN, { undecodables: 2 }, WATCHING],
    ['but from time to time', UNDECODABLE, PROVEN, { undecodables: 31 }, LISTING],
  ])('%s', (_title, ending, reach, troubles, state) => {
    expect(after(ending, reach, troubles).state).toEqual(state);
  });
});

describe('the troubles of a stream', () => {
  it.each<[string, Ending, Reach, Partial<Troubles>, Partial<Troubles>]>([
    ['are counted', CUT, NEW, { failures: 2 }, { failures: 3 }],
    ['are not those of a working connection that is cut', CUT, PROVEN, { failures: 2 }, { failures: 2 }],
    ['are also streams that end at once', { kind: 'closed' }, NEW, {}, { failures: 1 }],
    ['have refusals among them', status(403), NEW, {}, { failures: 1, refusals: 1 }],
    ['but not refusals to list', status(403), PAGED, {}, { failures: 1, refusals: 0 }],
    ['forget the refusals when a listing follows', status(403), NEW, { refusals: 2 }, { failures: 1, refusals: 0 }],
    ['count the lines that cannot be decoded', UNDECODABLE, PROVEN, { undecodables: 4 }, { undecodables: 5 }],
  ])('%s', (_title, ending, reach, before, expected) => {
    expect(after(ending, reach, before).troubles).toEqual({ ...NO_TROUBLES, ...expected });
  });
});

describe('the news of an ending', () => {
  it.each<[string, Ending, Reach, Partial<Troubles>, object | undefined]>([
    ['are none if it is usual', { kind: 'closed' }, PROVEN, {}, undefined],
    ['are none if it ends at once for the first times', { kind: 'closed' }, NEW, { failures: 1 }, undefined],
    [
      'are bad if it ends at once again and again',
      { kind: 'closed' },
      NEW,
      { failures: 2 },
      { kind: 'failed', isDown: true, what: 'watching' },
    ],
    ['are not bad if a version has expired', status(410), NEW, {}, { kind: 'failed', isDown: false, isExpired: true }],
    [
      'are bad if every version expires',
      status(410),
      NEW,
      { failures: 2 },
      { kind: 'failed', isDown: true, isExpired: true },
    ],
    [
      'say what has failed',
      status(503),
      PAGED,
      {},
      { kind: 'failed', isDown: true, what: 'listing', isVersionDoubtful: true },
    ],
    [
      'blame the server for a silence',
      { kind: 'interrupted', why: 'inactive' },
      STREAMED,
      {},
      { kind: 'not streamed', isOfServer: true },
    ],
    ['do not blame the server for permissions', status(403), STREAMED, {}, { kind: 'not streamed', isOfServer: false }],
    [
      'do not blame the server for a long list',
      { kind: 'interrupted', why: 'endless' },
      STREAMED,
      {},
      { kind: 'not streamed', isOfServer: false },
    ],
    ['tell of a restored cluster', { kind: 'interrupted', why: 'rewound' }, PROVEN, {}, { kind: 'rewound' }],
  ])('%s', (_title, ending, reach, troubles, news) => {
    const step = after(ending, reach, troubles);
    if (news === undefined) expect(step.news).toBe(undefined);
    else expect(step.news).toMatchObject(news);
  });
});
