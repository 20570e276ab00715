/** The pages of the site as text: their names, headings, samples, and comments for the checks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const docs = fileURLToPath(new URL('../..', import.meta.url));

const apart = new Set(['node_modules', 'checks', 'public', 'reference', 'WRITING.md']);

/** Paths without `.md`, relative to the folder. What is generated is not among them. */
export function pageNames(folder = docs) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join(posix.sep))
    .filter((file) => !file.startsWith('.') && !apart.has(file.split('/')[0]) && !file.includes('node_modules/'))
    .map((file) => file.slice(0, -'.md'.length))
    .sort();
}

export function readPage(name, folder = docs) {
  return parsePage(name, readFileSync(join(folder, `${name}.md`), 'utf8'));
}

/**
 * @typedef {{ kind: 'sample', line: number, language: string, name?: string, flags: string[], text: string }} Sample
 * @typedef {{ kind: 'comment', line: number, text: string }} Comment
 * @typedef {{ kind: 'heading', line: number, level: number, text: string, anchor: string }} Heading
 * @returns {{ name: string, text: string, blocks: (Sample | Comment | Heading)[] }} lines are those where the content begins, from 1
 */
function parsePage(name, text) {
  const lines = text.split('\n');
  const blocks = [];
  const anchors = new Map();
  let at = lines[0] === '---' ? lines.indexOf('---', 1) + 1 : 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^( *)(`{3,}|~{3,})\s*(\S*)\s*(.*)$/.exec(line);
    if (fence !== null) {
      const [, indent, marks, language, meta] = fence;
      const end = lines.findIndex((other, index) => index > at && other.trim().startsWith(marks));
      if (end === -1) throw new Error(`${name}.md:${at + 1}: the sample has no end.`);
      const inside = lines
        .slice(at + 1, end)
        .map((other) => other.slice(Math.min(indent.length, other.search(/\S|$/))));
      const title = /\[([^\]]+)\]/.exec(meta)?.[1];
      const flags = meta
        .replace(/\[[^\]]*\]|\{[^}]*\}|:\S+/g, ' ')
        .split(/\s+/)
        .filter(Boolean);
      const clean = language.replace(/[:{].*$/, '');
      blocks.push({
        kind: 'sample',
        line: at + 2,
        language: clean,
        name: title,
        flags,
        text: `${inside.join('\n')}\n`,
      });
      at = end + 1;
    } else if (line.startsWith('<!--')) {
      const end = lines.findIndex((other, index) => index >= at && other.includes('-->'));
      if (end === -1) throw new Error(`${name}.md:${at + 1}: the comment has no end.`);
      const inside = lines.slice(at, end + 1).join('\n');
      blocks.push({ kind: 'comment', line: at + 1, text: inside.replace(/^<!--/, '').replace(/-->.*$/s, '') });
      at = end + 1;
    } else {
      const heading = /^(#{1,6})\s+(.*?)\s*$/.exec(line);
      if (heading !== null) {
        const [, marks, title] = heading;
        const explicit = /\s*\{#([\w-]+)\}$/.exec(title);
        const plain = title
          .replace(/\s*\{#[\w-]+\}$/, '')
          .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
          .replace(/[`*]/g, '');
        const slug = explicit?.[1] ?? slugify(plain);
        const count = anchors.get(slug) ?? 0;
        anchors.set(slug, count + 1);
        const anchor = count === 0 ? slug : `${slug}-${count}`;
        blocks.push({ kind: 'heading', line: at + 1, level: marks.length, text: plain, anchor });
      }
      at += 1;
    }
  }
  return { name, text, blocks };
}

/** As VitePress makes anchors of headings; the built pages are compared with it. */
function slugify(text) {
  return (
    text
      .normalize('NFKD')
      .replace(/[\u0300-\u036F]/g, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
      .replace(/[\u0000-\u001f]/g, '')
      .replace(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g, '-')
      .replace(/-{2,}/g, '-')
      .replace(/^-+|-+$/g, '')
      .replace(/^(\d)/, '_$1')
      .toLowerCase()
  );
}
