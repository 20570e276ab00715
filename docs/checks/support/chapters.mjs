/** The list of chapters, as the site and the checks read it. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const file = new URL('../../chapters.yaml', import.meta.url);

/** @returns {{ group: string, pages: { page: string, title: string, handlers?: boolean, plain?: string, kopf?: Record<string, string> }[] }[]} */
export function chapters() {
  return parse(readFileSync(file, 'utf8'));
}
