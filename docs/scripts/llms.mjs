/** The site as plain text, for language models: `llms.txt`, the list of pages; `llms-full.txt`, all of them; and each page as Markdown. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chapters } from '../checks/support/chapters.mjs';
import { docs } from '../checks/support/pages.mjs';

const ABOUT = `# kopf-ts

> A Kubernetes operator framework in TypeScript. You write handlers for objects; the framework watches the cluster,
> calls the handlers, retries them, remembers what they have done, and shuts down gracefully. It is modelled on Kopf,
> the framework for Python, and understands what Kopf has stored on objects.

Handlers are functions in a file: \`kopf.on.create('kopfexamples', async ({ spec, patch, logger }) => { … })\`. \`kopf dev handlers.ts\`
runs them on an API server in memory, \`kopf run handlers.ts\` on a cluster. \`kopf-ts/testing\` has a cluster and a clock for tests.
`;

/** @param {string} out the folder of the built site */
export function writeTexts(out = join(docs, '.vitepress/dist'), folder = docs, groups = chapters()) {
  const list = [ABOUT];
  const full = [ABOUT];
  let pages = 0;
  for (const { group, pages: inside } of groups) {
    const there = inside.filter(({ page }) => existsSync(join(folder, `${page}.md`)));
    if (there.length === 0) continue;
    list.push(`## ${group}\n`);
    for (const { page, title } of there) {
      const text = readable(readFileSync(join(folder, `${page}.md`), 'utf8'));
      list.push(`- [${title}](/${page}.md): ${summaryOf(text)}`);
      full.push(`<!-- /${page}.md -->\n\n${text}`);
      mkdirSync(dirname(join(out, page)), { recursive: true });
      writeFileSync(join(out, `${page}.md`), text);
      pages += 1;
    }
    list.push('');
  }
  writeFileSync(join(out, 'llms.txt'), `${list.join('\n')}\n`);
  const whole = `${full.join('\n\n')}\n`;
  writeFileSync(join(out, 'llms-full.txt'), whole);
  return { pages, characters: whole.length };
}

/** As it is read: without the head, without what is for the checks, and without their flags. */
export function readable(text) {
  return text
    .replace(/^---\n.*?\n---\n/s, '')
    .replace(/^<!--.*?-->\n*/gms, '')
    .replace(/^(```ts(?: \[[^\]]+\])?) (?:operator|run|test|continues|twoslash)\b.*$/gm, '$1')
    .replace(/^(```\w+) (?:parsed|run|background|output)\b.*$/gm, '$1')
    .trim();
}

function summaryOf(text) {
  const paragraph = text.split('\n\n').find((part) => /^[A-Z`*_[]/.test(part)) ?? '';
  const sentence = /^.*?[.:!?](?=\s|$)/s.exec(paragraph)?.[0] ?? paragraph;
  return sentence.replace(/\s+/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}
