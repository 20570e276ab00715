/** Writes `AGENTS.md` of the package kopf-ts, for coding assistants, from its page: `node docs/scripts/agents.mjs`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { docs } from '../checks/support/pages.mjs';
import { readable } from './llms.mjs';

const BEGIN = '<!-- AGENTS.md begins here -->';

export const agentsFile = join(docs, '../packages/kopf-ts/AGENTS.md');

export function agentsText() {
  const page = readFileSync(join(docs, 'toolkits/assistants.md'), 'utf8');
  const at = page.indexOf(BEGIN);
  if (at === -1) throw new Error(`toolkits/assistants.md has no line ${BEGIN}.`);
  return `# Operators with kopf-ts\n\n${readable(page.slice(at + BEGIN.length))}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(agentsFile, agentsText());
