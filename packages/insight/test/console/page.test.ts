import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

it('The page in the sources is the one in packages/insight/page: otherwise, run `node scripts/console-page.mjs`', async () => {
  const script = new URL('../../../../scripts/console-page.mjs', import.meta.url).href;
  const { pageModule } = (await import(script)) as { pageModule(): Promise<string> };
  const written = await readFile(new URL('../../src/console/page.ts', import.meta.url), 'utf8');
  expect(written === (await pageModule())).toBe(true);
});
