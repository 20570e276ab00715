/**
 * How fast watch-events are taken in by the client, against the barest loop over the same HTTP answer:
 * the same library, chunks cut at newlines, `JSON.parse`, and nothing else.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HttpKubeClient, kubeClient } from '@kopf-ts/client';
import type { Clock, Logger } from '@kopf-ts/core';
import { request } from 'undici';
import { median } from './figures.js';

const EVENTS = 50_000;
const EVENT_BYTES = 2000;
const ROUNDS = 15;
const GOAL = 0.8;

export default async function run(): Promise<void> {
  const server = await startServer();
  const client = kubeClient({ connection: { server: server.url }, clock: standstill, logger: silence });
  try {
    const takers = { bare: () => bareLoop(server.url), client: () => clientLoop(client) };
    await takers.bare();
    await takers.client();
    const times = { bare: [] as number[], client: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      // In turns, and each of them first as often as second.
      const order = round % 2 === 0 ? (['bare', 'client'] as const) : (['client', 'bare'] as const);
      for (const name of order) times[name].push(await timeOf(takers[name]));
    }
    const rate = (name: 'bare' | 'client'): number => EVENTS / median(times[name]);
    // Of neighbours in time: whatever else the machine does, it does to both of them.
    const ratio = median(times.bare.map((time, round) => time / (times.client[round] ?? Number.NaN)));
    const verdict = ratio >= GOAL ? 'ok' : `worse than the goal of ${GOAL * 100} %`;
    for (const name of ['bare', 'client'] as const) {
      const [least, most] = [Math.min(...times[name]), Math.max(...times[name])].map((time) => EVENTS / time);
      console.log(`${name}: ${thousands(rate(name))} events/s [${thousands(most ?? 0)}–${thousands(least ?? 0)}]`);
    }
    console.log(
      `intake of events of ${EVENT_BYTES} bytes: ${(ratio * 100).toFixed(0)} % of the bare loop (${verdict})`,
    );
  } finally {
    await client.close();
    server.stop();
  }
}

async function bareLoop(url: string): Promise<void> {
  const { body } = await request(url);
  let rest: Buffer | undefined;
  let count = 0;
  for await (const piece of body) {
    const chunk: Buffer = rest === undefined ? piece : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      count += JSON.parse(chunk.toString('utf8', start, end)).type === 'MODIFIED' ? 1 : 0;
      start = end + 1;
    }
    rest = start < chunk.length ? chunk.subarray(start) : undefined;
  }
  check(count);
}

async function clientLoop(client: HttpKubeClient): Promise<void> {
  let count = 0;
  for await (const event of client.stream<{ type: string }>({ method: 'GET', path: '/' })) {
    count += event.type === 'MODIFIED' ? 1 : 0;
  }
  check(count);
}

function check(count: number): void {
  if (count !== EVENTS) throw new Error(`There were ${count} events instead of ${EVENTS}.`);
}

/** Seconds. */
async function timeOf(fn: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await fn();
  return (performance.now() - started) / 1000;
}

/** In a process of its own, so that the sending is not a part of what is measured. */
async function startServer(): Promise<{ url: string; stop(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'kopf-ts-bench-'));
  const script = join(folder, 'server.mjs');
  writeFileSync(script, `(${serve.toString()})(${EVENTS}, ${EVENT_BYTES}, ${eventText.toString()});`);
  const child: ChildProcess = fork(script);
  const port = await new Promise((resolve) => child.once('message', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function eventText(number: number, bytes: number): string {
  const metadata = {
    name: `object-${number}`,
    namespace: 'default',
    uid: `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`,
    resourceVersion: String(100_000 + number),
    labels: { app: 'web', tier: 'backend', 'example.com/shard': String(number % 50) },
    annotations: { 'example.com/note': '' },
  };
  const conditions = ['Ready', 'Available', 'Progressing'].map((type) => ({
    type,
    status: 'True',
    reason: 'AsExpected',
  }));
  const spec = { replicas: number % 10, image: 'registry.example.com/team/image:1.0', ports: [80, 443, 8080] };
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata, spec, status: { conditions } };
  const missing = bytes - JSON.stringify({ type: 'MODIFIED', object }).length;
  metadata.annotations['example.com/note'] = 'n'.repeat(Math.max(0, missing));
  return `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
}

/** Runs in the other process: nothing but its arguments is there. */
async function serve(count: number, bytes: number, text: (number: number, bytes: number) => string): Promise<void> {
  const { createServer } = await import('node:http');
  const blocks: Buffer[] = [];
  for (let number = 0; number < count; number += 32) {
    const size = Math.min(32, count - number);
    blocks.push(Buffer.from(Array.from({ length: size }, (_, index) => text(number + index, bytes)).join('')));
  }
  const server = createServer((_request, response) => {
    let next = 0;
    const write = (): void => {
      while (next < blocks.length) {
        if (!response.write(blocks[next++])) {
          response.once('drain', write);
          return;
        }
      }
      response.end();
    };
    write();
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
}

/** No limits expire here. */
const standstill: Clock = { now: () => 0, utc: () => new Date(0), sleep: () => new Promise(() => {}) };
const silence: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silence };

function thousands(rate: number): string {
  return `${(rate / 1000).toFixed(1)}k`;
}
