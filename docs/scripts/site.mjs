/** The site, while it is written or as a whole: `node docs/scripts/site.mjs <dev|build> [options of vitepress]`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, runScript } from '../../scripts/tools.mjs';
import { writeTexts } from './llms.mjs';

const vitepress = join(root, 'docs/node_modules/vitepress/bin/vitepress.js');
const reference = () => runScript('docs/scripts/reference.mjs');

async function main([command = 'build', ...args]) {
  // It changes less often than the pages: while they are written, the one that is there will do.
  const isNeeded = command !== 'dev' || !existsSync(join(root, 'docs/reference/index.md'));
  if (isNeeded && (await reference()).code !== 0) return 1;
  if (command === 'dev') return (await runScript(vitepress, ['dev', 'docs', ...args])).code;

  const { code, output } = await runScript(vitepress, ['build', 'docs', ...args], { quiet: true });
  const warnings = output.split('\n').filter((line) => /\(!\)|\bwarn(?:ing)?\b|is not loaded/i.test(line));
  if (code !== 0) console.error(output);
  else if (warnings.length > 0) console.error(`The build warns:\n${warnings.join('\n')}`);
  if (code !== 0 || warnings.length > 0) return 1;
  const { pages, characters } = writeTexts();
  console.log(
    `The site is in docs/.vitepress/dist; llms-full.txt has ${pages} pages, ${Math.round(characters / 1000)} KB.`,
  );
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
