/** What the checks tolerate while the pages are being written: `docs/pending.yaml`. Without that file, nothing. */
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const file = new URL('../../pending.yaml', import.meta.url);

/** @returns {{ missing: ReadonlySet<string>, unfinished: ReadonlySet<string> }} pages that need not be there; pages without checked samples */
export function pending() {
  const { missing, unfinished } = (existsSync(file) ? parse(readFileSync(file, 'utf8')) : undefined) ?? {};
  return { missing: new Set(missing), unfinished: new Set(unfinished) };
}

/** Whether an address within the site leads to a page that has not come yet: `/guide/daemons.html#spawning`, `./daemons`. */
export function leadsToMissing(path, { missing } = pending()) {
  const page = path
    .replace(/[#?].*$/, '')
    .replace(/^\.?\//, '')
    .replace(/(?:index)?(?:\.html|\.md)?$/, '');
  return missing.has(page) || missing.has(`${page}index`);
}
