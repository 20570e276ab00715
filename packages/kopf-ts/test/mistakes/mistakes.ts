/** Mistakes that users make, each with what they are told. With KOPF_MISTAKES_TABLE, a table of all is written there. */
import { appendFileSync } from 'node:fs';
import { createRegistry, type KubeClient, type Registry } from '@kopf-ts/core';
import { manualClock, recordingLogger } from '@kopf-ts/testing';
import { expect, it } from 'vitest';
import { operator } from '../../src/operator.js';
import type { OperatorOptions } from '../../src/options.js';

/** Without types: what the compiler would not allow is done by people who have no compiler. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type Untyped = any;

/** What was done, what it is answered with, and what must be in the answer. */
export type Mistake = readonly [what: string, told: () => string | Promise<string>, message: RegExp];

/** Each mistake is a test. */
export function eachIsTold(mistakes: readonly Mistake[]): void {
  it.each(mistakes)('%s', async (what, told, message) => {
    const text = await told();
    expect(text).toMatch(message);
    // One message, of whole sentences, and not of something else.
    expect(text).not.toMatch(/undefined is not|\[object Object\]/);
    note(what, text);
  });
}

function note(what: string, text: string): void {
  const path = process.env['KOPF_MISTAKES_TABLE'];
  if (path === undefined) return;
  const cell = (content: string): string =>
    content
      .trim()
      .replaceAll('|', '\\|')
      .replaceAll(/\s*\n\s*/g, ' ⏎ ');
  appendFileSync(path, `| ${cell(what)} | ${cell(text)} |\n`);
}

/** What is said when handlers are declared so. */
export function refusalOf(declare: (registry: Untyped) => unknown): string {
  try {
    declare(createRegistry());
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('Nothing was said.');
}

/** There is no cluster behind it: nobody gets that far. */
const client = {
  request: () => Promise.reject(new Error('nobody should ask')),
  stream: () => Promise.reject(new Error('nobody should ask')),
} as unknown as KubeClient;

/** What is said when an operator is started so: its error, or else all its warnings. */
export async function startedWith(
  declare: (registry: Untyped) => unknown,
  options: Untyped = { clusterwide: true },
): Promise<string> {
  const [logger, registry] = [recordingLogger(), createRegistry()];
  try {
    declare(registry);
    await operator({ registry, client, clock: manualClock(), logger, ...(options as OperatorOptions) }).stop();
  } catch (error) {
    return (error as Error).message;
  }
  return logger
    .messages('warn')
    .filter((text) => !text.startsWith('Startup activity'))
    .join('\n');
}

/** So that it is not the lack of handlers that is told. */
export function anyHandler({ on }: Registry): void {
  on.create('kopfexamples', function create() {});
}
