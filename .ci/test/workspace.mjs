import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A workspace for the length of one test, made of the given files.
 *
 * @param {Record<string, string | object>} files texts by path; objects become JSON
 * @returns {string} its root
 */
export function workspace(files) {
  const root = mkdtempSync(join(tmpdir(), 'kopf-ts-fence '));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return root;
}
