/**
 * Writes the page of the console into the sources: `node scripts/console-page.mjs`, after a change in
 * `packages/insight/page`. The page is hand-written; here it is only made smaller. A test tells if it was forgotten.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';

const home = new URL('../packages/insight/', import.meta.url);
const target = new URL('src/console/page.ts', home);

/** The text of the module with the page in it. */
export async function pageModule() {
  const read = (name) => readFile(new URL(`page/${name}`, home), 'utf8');
  const [html, style, script] = await Promise.all(['index.html', 'style.css', 'console.js'].map(read));
  const small = async (text, loader) =>
    (
      await transform(text, { loader, minify: true, target: 'es2022', charset: 'utf8', legalComments: 'none' })
    ).code.trim();
  const lines = [
    '// Written by scripts/console-page.mjs from packages/insight/page: change it there.',
    `export const HTML = ${JSON.stringify(html.replace(/\n\s*/g, '\n'))};`,
    `export const STYLE = ${JSON.stringify(await small(style, 'css'))};`,
    `export const SCRIPT = ${JSON.stringify(await small(script, 'js'))};`,
  ];
  return `${lines.join('\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeFile(target, await pageModule());
