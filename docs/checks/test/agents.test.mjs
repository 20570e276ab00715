/** What coding assistants read in projects of users is what the page says. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { agentsFile, agentsText } from '../../scripts/agents.mjs';

it('AGENTS.md of the package is written from its page: `node docs/scripts/agents.mjs`', () => {
  expect(readFileSync(agentsFile, 'utf8')).toBe(agentsText());
  expect(agentsText()).not.toMatch(/<!--|scenario|```ts.* (?:operator|test)/);
});
