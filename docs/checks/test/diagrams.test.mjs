/** The diagrams of the site are those that their script draws, and every page has pictures only that there are. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pictures } from '../../scripts/diagrams/pictures.mjs';
import { pageNames, readPage } from '../support/pages.mjs';

const folder = new URL('../../public/diagrams/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.svg'));

describe('The diagrams', () => {
  it('are those that the script draws: `node docs/scripts/diagrams.mjs`', () => {
    expect(files.sort()).toEqual(
      Object.keys(pictures)
        .map((name) => `${name}.svg`)
        .sort(),
    );
  });

  it.each(Object.entries(pictures))('%s is as it is drawn, with a title, for light and for dark', (name, picture) => {
    expect(readFileSync(new URL(`${name}.svg`, folder), 'utf8')).toBe(picture);
    expect(picture).toMatch(/<title>[A-Z].{20,}<\/title>/);
    expect(picture).toContain('prefers-color-scheme: dark');
  });

  it('on the pages are there', () => {
    const used = pageNames().flatMap((name) =>
      [...readPage(name).text.matchAll(/\/diagrams\/([\w-]+\.svg)/g)].map(([, file]) => file),
    );
    expect(used.filter((file) => !files.includes(file))).toEqual([]);
  });
});
