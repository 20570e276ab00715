import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { chapters } from '../checks/support/chapters.mjs';
import { leadsToMissing, pending } from '../checks/support/pending.mjs';
import { captions } from './captions.mjs';

const generated = fileURLToPath(new URL('../reference/typedoc-sidebar.json', import.meta.url));
/** Of each package, its page; the names are there, and in the search. All of them here would be a part of each page. */
const reference = (existsSync(generated) ? JSON.parse(readFileSync(generated, 'utf8')) : [])
  .map(({ text, link }) => ({ text, link }))
  .sort((one, other) => order(one.text).localeCompare(order(other.text)));

/** Without a scope first. */
function order(name) {
  return name.startsWith('@') ? name : ` ${name}`;
}

const packages = { text: 'Reference', items: [{ text: 'All packages', link: '/reference/' }, ...reference] };
/** While chapters are being written, those that are not there yet are left out. */
const isThere = (page) => existsSync(fileURLToPath(new URL(`../${page}.md`, import.meta.url))) || !leadsToMissing(page);
const groups = chapters().map(({ group, pages }) => ({
  text: group,
  collapsed: false,
  items: pages
    .filter(({ page }) => isThere(page))
    .map(({ page, title }) => ({ text: title, link: `/${page.replace(/(^|\/)index$/, '$1')}` })),
}));
const home = { text: 'Documentation', link: '/' };
/** The pages of the reference are many: theirs is short. */
const sidebar = { '/reference/': [home, packages], '/': [...groups, { ...packages, collapsed: true }] };

/** What is found by the search: of the pages of the reference, the name and its sentence. */
function searchable(source, env, md) {
  if (env.frontmatter?.search === false) return '';
  if (!env.relativePath.startsWith('reference/')) return md.render(source, env);
  const heading = /^# .*$/m.exec(source)?.[0] ?? '';
  const sentence = source.split('\n\n').find((part) => /^[A-Z][^|`<]*[.:]$/m.test(part) && !part.startsWith('#')) ?? '';
  return md.render(`${heading}\n\n${sentence}\n`, env);
}

export default defineConfig({
  title: 'kopf-ts',
  description: 'A Kubernetes operator framework in TypeScript.',
  lang: 'en',
  cleanUrls: false,
  lastUpdated: false,
  metaChunk: true,
  // It cannot tell links to chapters that are still to be written from others: then, `checks/site.mjs` does that alone.
  ignoreDeadLinks: pending().missing.size > 0,
  srcExclude: ['WRITING.md', 'checks/**'],
  markdown: { config: captions },
  vite: { build: { chunkSizeWarningLimit: 10_000 } },
  themeConfig: {
    search: { provider: 'local', options: { _render: searchable } },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/getting-started' },
      { text: 'Tutorial', link: '/tutorial/problem' },
      { text: 'Handlers', link: '/guide/handlers' },
      { text: 'From Kopf', link: '/migration/from-kopf' },
      { text: 'Reference', link: '/reference/' },
    ].filter(({ link }) => link === '/reference/' || isThere(link.slice(1))),
    sidebar,
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
