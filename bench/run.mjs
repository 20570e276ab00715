/**
 * Runs the benchmarks: every `*.bench.ts` in this folder, or those whose names contain one of the arguments.
 *
 * A benchmark is a module whose default export is an asynchronous function. It measures, prints its own figures, and gives
 * those with goals as rows of the table at the end. They run one after another: they would disturb each other otherwise.
 */
import { readdirSync } from 'node:fs';
import { withModules } from './bundle.mjs';
import { printTable } from './table.mjs';

async function main(wanted) {
  const files = readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.bench.ts'))
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
    .sort();
  if (files.length === 0) {
    console.log(
      wanted.length === 0 ? 'There are no benchmarks yet.' : `No benchmark is named like ${wanted.join(', ')}.`,
    );
    return wanted.length === 0 ? 0 : 1;
  }
  const rows = [];
  await withModules(files, async ({ default: run }, file) => {
    console.log(`\n── ${file}`);
    if (typeof run !== 'function') throw new TypeError(`bench/${file} has no default export to call.`);
    rows.push(...((await run()) ?? []));
  });
  printTable(rows);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
