/**
 * Looks at the built site: `node docs/checks/site.mjs`. Every link and every anchor leads somewhere, all pages of the
 * list are there, and nothing is loaded from elsewhere. The last line is `N passed, N failed, N skipped`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { docs } from './support/pages.mjs';

const site = join(docs, '.vitepress/dist');

/** @returns {{ pages: number, links: number, failures: string[] }} */
export function checkSite(folder = site) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const pages = new Map(files.filter((file) => file.endsWith('.html')).map((file) => [file, pageOf(folder, file)]));
  const known = new Set(files);
  const failures = [];
  /** Pages by what they link to in vain. */
  const dead = new Map();
  let links = 0;
  for (const [file, { hrefs, loaded }] of pages) {
    for (const address of loaded) failures.push(`${file} loads ${address}: nothing may come from elsewhere`);
    for (const href of hrefs) {
      links += 1;
      const why = deadBecause(file, href, pages, known);
      if (why !== undefined) dead.set(`${href}: ${why}`, [...(dead.get(`${href}: ${why}`) ?? []), file]);
    }
  }
  // What is in the sidebar is in all pages.
  for (const [what, [first, ...others]] of dead)
    failures.push(`${first}${others.length === 0 ? '' : ` and ${others.length} other pages`} links to ${what}`);
  for (const file of files.filter((name) => /\.(?:css|svg)$/.test(name))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const outside = /(?:url\(|@import\s+|href=)\s*["']?((?:https?:)?\/\/[^\s"')]+)/.exec(text)?.[1];
    if (outside !== undefined && !outside.startsWith('http://www.w3.org/')) failures.push(`${file} loads ${outside}`);
  }
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const outside = /(?:\bfetch\(|\bimport\(|\.src\s*=\s*|new WebSocket\()\s*["'`]((?:https?:|wss?:)?\/\/[^"'`]+)/.exec(
      text,
    )?.[1];
    if (outside !== undefined) failures.push(`${file} asks ${outside}`);
  }
  return { pages: pages.size, links, failures: [...new Set(failures)] };
}

function pageOf(folder, file) {
  const html = readFileSync(join(folder, file), 'utf8');
  const anchors = new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => unescaped(id)));
  const hrefs = new Set([...html.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)].map(([, href]) => unescaped(href)));
  const tags = [...html.matchAll(/<(?:script|img|iframe|link|source|video|audio|object|embed)\b[^>]*>/g)].map(
    ([tag]) => tag,
  );
  const loaded = tags
    .filter((tag) => !/\srel="(?:canonical|alternate)"/.test(tag))
    .map((tag) => /\s(?:src|href|data|srcset)="((?:https?:)?\/\/[^"]*)"/.exec(tag)?.[1])
    .filter((address) => address !== undefined);
  return { anchors, hrefs, loaded };
}

function deadBecause(file, href, pages, known) {
  if (/^(?:https?:|mailto:)/.test(href)) return undefined;
  const [path, anchor] = href.split('#');
  const plain = decodeURI(path.split('?')[0]);
  const target =
    plain === ''
      ? file
      : posix.join('.', plain.startsWith('/') ? plain.slice(1) : posix.join(posix.dirname(file), plain));
  const found = [target, `${target}.html`, posix.join(target, 'index.html')].find((name) =>
    known.has(name.replace(/^\.\//, '')),
  );
  if (found === undefined) return 'there is no such page';
  if (anchor === undefined || anchor === '') return undefined;
  const page = pages.get(found);
  return page === undefined || page.anchors.has(decodeURIComponent(anchor)) ? undefined : `there is no #${anchor}`;
}

function unescaped(text) {
  return text
    .replace(/&amp;/g, '&')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (!existsSync(site)) {
    console.error('There is no site: `npm run docs:build` makes it.');
    process.exit(2);
  }
  const { pages, links, failures } = checkSite();
  console.log(`The site has ${pages} pages with ${links} links; nothing is loaded from elsewhere.`);
  for (const failure of failures) console.log(`✗ ${failure}`);
  console.log(`${pages} passed, ${failures.length} failed, 0 skipped`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
