/** Whatever a server may send: Node's own HTTP and ours have to understand it in the same way. */
import { request } from 'node:http';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AnswerParser } from '../../../src/connections/answer-parser.js';

/** For more of them, and others each time. */
const RUNS = process.env['KOPF_ANSWERS'] ? Number(process.env['KOPF_ANSWERS']) : undefined;
const chance = RUNS === undefined ? { seed: 20 } : {};

type Understood =
  | { readonly status: number; readonly phrase: string; readonly headers: object; readonly body: string }
  | 'nothing';

/** By ours, cut into pieces; then the connection is closed. */
function byUs(pieces: readonly Buffer[]): Understood {
  let answer: { status: number; phrase: string; headers: object } | undefined;
  let body = '';
  let isComplete = false;
  const parser = new AnswerParser({
    onHead: ({ status, phrase, headers }) => {
      answer = { status, phrase, headers: { ...headers } };
    },
    onData: (chunk) => {
      body += chunk.toString('latin1');
    },
    onEnd: () => {
      isComplete = true;
    },
  });
  parser.begin();
  try {
    for (const piece of pieces) {
      if (!isComplete) parser.feed(piece);
    }
    parser.end();
  } catch {
    return 'nothing';
  }
  return answer === undefined || !isComplete ? 'nothing' : { ...answer, body };
}

/** The same by Node. */
function byNode(pieces: readonly Buffer[]): Promise<Understood> {
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  return new Promise((resolve) => {
    const sent = request({ createConnection: () => connection, method: 'GET', path: '/' });
    sent.on('error', () => resolve('nothing'));
    sent.on('upgrade', () => resolve('nothing'));
    let isAnswered = false;
    sent.on('close', () => {
      if (!isAnswered) resolve('nothing');
    });
    sent.on('response', (answer) => {
      isAnswered = true;
      let body = '';
      answer.on('error', () => resolve('nothing'));
      answer.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1');
      });
      answer.on('close', () => {
        const { statusCode: status = 0, statusMessage: phrase = '', headers } = answer;
        resolve(answer.complete ? { status, phrase, headers: { ...headers }, body } : 'nothing');
      });
    });
    sent.end();
    for (const piece of pieces) connection.push(piece);
    connection.push(null);
  });
}

const text = fc.string({ maxLength: 40 });
const status = fc.constantFrom(
  '200 OK',
  '201 Created',
  '204 No Content',
  '304 Not Modified',
  '404',
  '429 Too Many',
  '500 ',
);
const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0');
const interim = fc.constantFrom(
  '',
  '',
  '',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n',
);
const header = fc.constantFrom(
  'Content-Type: application/json',
  'warning:  299 - "x" \t',
  'Warning: 299 - "y"',
  'Retry-After: 3',
  'x-empty:',
  'Keep-Alive: timeout=5',
  'Connection: close',
  'connection: keep-alive',
);
const trailer = fc.constantFrom('', '', 'x-late: yes\r\n');

function chunked(pieces: readonly string[], end: string): string {
  const chunks = pieces.filter((piece) => piece !== '').map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return `transfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n${end}\r\n`;
}

const latin1 = text.map((one) => Buffer.from(one, 'utf8').toString('latin1'));
const body = fc.oneof(
  latin1.map((content) => `content-length: ${content.length}\r\n\r\n${content}`),
  fc.tuple(fc.array(latin1, { maxLength: 4 }), trailer).map(([pieces, end]) => chunked(pieces, end)),
  latin1.map((content) => `\r\n${content}`),
);
const answer = fc
  .tuple(interim, version, status, fc.array(header, { maxLength: 4 }), body)
  // What follows an answer without a body is another one, or nothing.
  .filter(([, , line, , rest]) => !/^(?:204|304)/.test(line) || rest.endsWith('\r\n\r\n') || rest === '\r\n')
  .map(
    ([before, spoken, line, headers, rest]) =>
      `${before}${spoken} ${line}\r\n${headers.map((one) => `${one}\r\n`).join('')}${rest}`,
  );

/** Something is missing, or there is something else in its place. */
const damage = fc.record({
  at: fc.nat(400),
  length: fc.nat(3),
  by: fc.constantFrom(
    '',
    '\r',
    '\n',
    '\0',
    ' ',
    ':',
    '0',
    'ff',
    '-1',
    'x',
    '\r\n',
    '\r\n\r\n',
    ';',
    ',',
    '\t',
    '\x7f',
    'é',
  ),
});
const cuts = fc.array(fc.nat(400), { maxLength: 5 });

function piecesOf(all: Buffer, places: readonly number[]): readonly Buffer[] {
  const sorted = [0, ...places.map((place) => place % (all.length + 1)).toSorted((a, b) => a - b), all.length];
  return sorted.slice(0, -1).map((from, index) => all.subarray(from, sorted[index + 1]));
}

it('an answer is understood as by Node, however it is cut', async () => {
  let understood = 0;
  await fc.assert(
    fc.asyncProperty(answer, cuts, async (one, places) => {
      const pieces = piecesOf(Buffer.from(one, 'latin1'), places);
      const ours = byUs(pieces);
      if (ours !== 'nothing') understood += 1;
      expect(ours).toEqual(await byNode(pieces));
    }),
    { numRuns: 1000, ...chance },
  );
  expect(understood).toBeGreaterThan(500);
});

it('a damaged answer is never understood otherwise than by Node: at worst, it is refused', async () => {
  let understood = 0;
  await fc.assert(
    fc.asyncProperty(answer, damage, cuts, async (one, { at, length, by }, places) => {
      const place = at % (one.length + 1);
      const damaged = one.slice(0, place) + by + one.slice(place + length);
      const pieces = piecesOf(Buffer.from(damaged, 'latin1'), places);
      const ours = byUs(pieces);
      if (ours === 'nothing') return;
      understood += 1;
      expect(ours).toEqual(await byNode(pieces));
    }),
    { numRuns: RUNS ?? 2000, ...chance },
  );
  expect(understood).toBeGreaterThan(100);
});
