import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformerTwoslash } from '@shikijs/vitepress-twoslash';
import { createFileSystemTypesCache } from '@shikijs/vitepress-twoslash/cache-fs';
import { defineConfig } from 'vitepress';
import { chapters } from '../checks/support/chapters.mjs';
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
const groups = chapters().map(({ group, pages }) => ({
  text: group,
  collapsed: true,
  items: pages.map(({ page, title }) => ({ text: title, link: `/${page.replace(/(^|\/)index$/, '$1')}` })),
}));
const home = { text: 'Documentation', link: '/' };
/** Nearly a hundred pages: the group of the page that is read opens by itself, and the home page lists all of them. */
const sidebar = { '/reference/': [home, packages], '/': [...groups, { ...packages, collapsed: true }] };

/** What is found by the search: of the pages of the reference, the name and its sentence. */
function searchable(source, env, md) {
  if (env.frontmatter?.search === false) return '';
  if (!env.relativePath.startsWith('reference/')) return md.render(source, env);
  const heading = /^# .*$/m.exec(source)?.[0] ?? '';
  const sentence = source.split('\n\n').find((part) => /^[A-Z][^|`<]*[.:]$/m.test(part) && !part.startsWith('#')) ?? '';
  return md.render(`${heading}\n\n${sentence}\n`, env);
}

/** Types of names in samples that say ` ```ts twoslash `, shown when they are pointed at; from the sources, as everywhere here. */
const types = transformerTwoslash({
  explicitTrigger: true,
  typesCache: createFileSystemTypesCache({ dir: fileURLToPath(new URL('./cache/twoslash', import.meta.url)) }),
  twoslashOptions: {
    vfsRoot: fileURLToPath(new URL('..', import.meta.url)),
    compilerOptions: {
      customConditions: ['@kopf-ts/source'],
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
      module: 199, // NodeNext
      moduleResolution: 99,
      types: ['node'],
      strict: true,
      skipLibCheck: true,
    },
  },
});

export default defineConfig({
  title: 'kopf-ts',
  description: 'A Kubernetes operator framework in TypeScript.',
  lang: 'en',
  cleanUrls: false,
  lastUpdated: false,
  metaChunk: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  srcExclude: ['WRITING.md', 'checks/**'],
  markdown: { config: captions, codeTransformers: [types] },
  vite: { build: { chunkSizeWarningLimit: 10_000 } },
  themeConfig: {
    search: { provider: 'local', options: { _render: searchable } },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/getting-started' },
      { text: 'Tutorial', link: '/tutorial/problem' },
      { text: 'Guide', link: '/guide/handlers' },
      { text: 'From Kopf', link: '/migration/from-kopf' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar,
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
