/**
 * Shows what exists: every package, what it is for, and which words its build offers.
 *
 * It starts no operator of its own yet, so it ends by itself, with or without `--once`;
 * the flag is there for those who start it from scripts and rely on the end.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readJson, root } from './tools.mjs';

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });

/** From the bottom of the star to its top. */
const floors = [['core'], leaves(), ['kopf-ts']];

console.log('\nkopf-ts: Kubernetes operators in TypeScript. These packages are built:\n');
for (const [index, names] of floors.entries()) {
  if (index > 0) console.log();
  for (const name of names) await show(name);
}
console.log('\nOperators run: "A minute of it" in README.md is one, on a cluster in the same process.');
console.log('To see all the parts work: npm test. To read on: README.md, then ARCHITECTURE.md.');
if (!values.once) console.log('(Nothing keeps running, so `npm start` ends here; `npm start -- --once` always does.)');

function leaves() {
  return readdirSync(join(root, 'packages'))
    .filter((name) => name !== 'core' && name !== 'kopf-ts')
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .sort();
}

async function show(name) {
  const manifest = readJson(`packages/${name}/package.json`);
  const offers = [];
  for (const [entry, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    const words = await wordsOf(join(root, 'packages', name, target.default));
    offers.push(`${posix.join(manifest.name, entry)}: ${words.length === 0 ? 'nothing yet' : listed(words)}`);
  }
  console.log(`  ${manifest.name} — ${manifest.description}`);
  for (const offer of offers) console.log(`      ${offer}`);
}

/** What a user would get from importing the built module. Types do not count: they are not there at run time. */
async function wordsOf(file) {
  return Object.keys(await import(pathToFileURL(file).href)).sort();
}

function listed(words) {
  const shown = words.slice(0, 6).join(', ');
  return `${words.length} ${words.length === 1 ? 'word' : 'words'} (${shown}${words.length > 6 ? ', …' : ''})`;
}
