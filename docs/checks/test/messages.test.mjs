/** The page on troubleshooting quotes messages: they must be those of the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url));
const page = readFileSync(new URL('../../recipes/troubleshooting.md', import.meta.url), 'utf8');

/** The texts of the sources: what is glued together there is in one piece here, and what is filled in is a gap. */
function textsOf(source) {
  return source
    .replaceAll(/['`"]\s*\+\s*['`"]/g, '')
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…')
    .replaceAll(/\\(['`"])/g, '$1');
}

const texts = readdirSync(packages).flatMap((name) =>
  readdirSync(join(packages, name, 'src'), { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => textsOf(readFileSync(join(packages, name, 'src', file), 'utf8'))),
);

/** In the first column of tables, in backticks. */
const quoted = [...page.matchAll(/^\| `([^`]+)` +\|/gm)]
  .map(([, message]) => message)
  .filter((message) => message.includes(' '));

it('quotes many messages', () => expect(quoted.length).toBeGreaterThan(40));

const isThere = (piece) => texts.some((text) => text.includes(piece));

/** Some messages are made of two texts. */
function isMadeOfTwo(piece) {
  const gaps = [...piece.matchAll(/[ :]+/g)].flatMap(({ index, 0: gap }) => [index, index + gap.length]);
  return gaps.some((at) => isThere(piece.slice(0, at).trim()) && isThere(piece.slice(at).trim()));
}

it.each(quoted)('%s', (message) => {
  const pieces = message
    .split('…')
    .map((piece) => piece.trim().replace(/[:.]$/, ''))
    .filter((piece) => piece.length > 3);
  expect(pieces.length).toBeGreaterThan(0);
  expect(pieces.filter((piece) => !isThere(piece) && !isMadeOfTwo(piece))).toEqual([]);
});
