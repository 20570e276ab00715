/** Whoever reaches the server can send anything to it, as much and as large as they like. The operator lives on. */
import { Agent, request as httpsRequest } from 'node:https';
import { expect, it } from 'vitest';
import { startEmbedded, type TestCluster } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import { eventually } from '../support/operators/operators.js';
import { program } from '../support/operators/programs.js';
import type { OperatorProgram } from './programs/operator.js';
import { newManaged } from './support/operators.js';

/** What Node takes by itself in a container of 256 MiB. */
const HEAP_MIB = 128;
const REQUESTS = 105;
const CONNECTIONS = 12;

const MIB = 1024 * 1024;
const startOperator = program(new URL('programs/operator.ts', import.meta.url), {
  nodeOptions: [`--max-old-space-size=${HEAP_MIB}`],
});

const filled = (size: number, unit: string) => unit.repeat(Math.floor(size / unit.length));

function different(size: number, item: (name: string) => string): string {
  const items: string[] = [];
  for (let length = 0; length < size; length += (items.at(-1)?.length ?? 0) + 1) {
    items.push(item(items.length.toString(36)));
  }
  return items.join(',');
}

/** JSON that takes a lot of memory for its length. */
const HOSTILE: readonly ((size: number) => string)[] = [
  (size) => `[${filled(size, '{},')}{}]`,
  (size) => `[${filled(size, '[],')}[]]`,
  (size) => `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
  (size) => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
  (size) => `[${different(size, (name) => `{"${name}":0}`)}]`,
  (size) => `{${different(size, (name) => `"${name}":0`)}}`,
  (size) => `"${filled(size, '€')}"`,
];

it('an operator with little memory survives a flood of large and nested requests of strangers, and answers reviews after that', async () => {
  await using cluster = await startEmbedded();
  const things = await cluster.newKind();
  const { running, url, agent } = await started(cluster, things);
  const bodies = HOSTILE.flatMap((make) => [
    // Nothing but that; more than anybody may send; and inside of a review that is right in all else.
    make(6.9 * MIB),
    make(16 * MIB),
    ...[0.5, 2, 6.9].map((size) => reviewOf(things, make(size * MIB))),
  ]).map((text) => Buffer.from(text));
  const answers: Record<string, number> = {};
  let next = 0;
  const flood = async (): Promise<void> => {
    while (next < REQUESTS) {
      const index = next++;
      const answer = await post(url, bodies[index % bodies.length] as Buffer, { agent, isChunked: index % 3 === 0 });
      answers[answer.status] = (answers[answer.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, flood));
  await eventually(async () => {
    const { status, text } = await post(url, Buffer.from(reviewOf(things, '{"size":-1}')), { agent });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ response: { uid: 'flood', allowed: false, status: { code: 422 } } });
  });
  agent.destroy();
  // All of it was tried: what is too large, what is too much, what is too deep, and what is reviewed.
  console.log(`answers: ${JSON.stringify(answers)}`);
  expect(Object.keys(answers)).toEqual(expect.arrayContaining(['200', '400']));
  running.kill('SIGTERM');
  expect(await running.ended).toBe(0);
}, 240_000);

async function started({ connection, newNamespace }: TestCluster, { selector }: TestKind) {
  const options: OperatorProgram = {
    ...{ connection, selector, namespace: await newNamespace(), managed: newManaged() },
  };
  const running = startOperator(options);
  await running.logs(/Listening for admission requests at https:\/\/127\.0\.0\.1:\d+/);
  const [, port] = /Listening for admission requests at https:\/\/127\.0\.0\.1:(\d+)/.exec(running.log) ?? [];
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false });
  return { running, agent, url: `https://127.0.0.1:${port}/check` };
}

function reviewOf({ group, plural }: TestKind, spec: string): string {
  const resource = JSON.stringify({ group, version: 'v1', resource: plural });
  return (
    `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"flood","operation":"CREATE",` +
    `"resource":${resource},"userInfo":{"username":"stranger"},"object":{"metadata":{"name":"x"},"spec":${spec}}}}`
  );
}

interface Answer {
  readonly status: number | string;
  readonly text: string;
}

async function post(url: string, body: Buffer, { agent, isChunked = false }: { agent: Agent; isChunked?: boolean }) {
  return await new Promise<Answer>((resolve) => {
    const headers = {
      'content-type': 'application/json',
      ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }),
    };
    const outgoing = httpsRequest(url, { method: 'POST', headers, agent });
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('error', () => resolve({ status: 'cut off', text }));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
    // A refusal in the midst of a large request may come too late to be read.
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? 'error', text: '' }));
    outgoing.end(body);
  });
}
