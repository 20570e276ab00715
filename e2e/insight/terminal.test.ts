/**
 * The pictures of the terminal in the README and in the documentation: of `kopf dev`, with the samples of a page. Each time, it is seen that they can be taken; `npm run pictures` takes them anew: look at them afterwards.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { kubeClient, loginWithKubeconfig } from '@kopf-ts/client';
import type { ConnectionInfo, KubeClient } from '@kopf-ts/core';
import { recordingLogger } from '@kopf-ts/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { built, project } from '../cli/projects.js';
import { realClock } from '../support/client.js';
import { eventually } from '../support/operators/operators.js';
import type { RunningProgram } from '../support/operators/programs.js';
import { findChromium } from './chromium.js';
import { coloured, terminalPage } from './terminal.js';

built();

const found = await findChromium();
const isMissing = found.kind === 'unavailable';
const isWriting = process.env['KOPF_TS_PICTURES'] === 'write';
const root = new URL('../../', import.meta.url);
const folder = new URL('docs/public/terminal/', root);

type Files = Readonly<Record<string, string>>;

interface Picture {
  readonly name: string;
  /** In pixels; what is printed has to fit into it. */
  readonly size: { readonly width: number; readonly height: number };
  readonly command: string;
  files(): Promise<Files>;
  /** What is done in another terminal meanwhile. */
  act?(client: KubeClient): Promise<void>;
  /** The last thing that is printed. */
  readonly ends: RegExp;
}

const pictures: readonly Picture[] = [
  {
    name: 'getting-started',
    size: { width: 1000, height: 330 },
    command: 'kopf dev handlers.ts',
    async files() {
      const { 'handlers.ts': handlers = '', 'crd.yaml': crd = '' } = await samplesOf('start/getting-started');
      return { 'handlers.ts': handlers, 'crd.yaml': crd };
    },
    async act(client) {
      const path = '/apis/example.com/v1/namespaces/default/greetings';
      const metadata = { name: 'first', namespace: 'default' };
      const body = { apiVersion: 'example.com/v1', kind: 'Greeting', metadata, spec: { to: 'world' } };
      await client.request({ method: 'POST', path, body });
    },
    ends: /Creation is processed: 1 succeeded/,
  },
  {
    name: 'errors',
    size: { width: 1000, height: 410 },
    command: 'kopf dev disks.ts',
    async files() {
      const { 'disks.ts': handlers = '' } = await samplesOf('guide/errors');
      return { 'disks.ts': handlers, 'crd.yaml': await readFile(new URL('examples/crd.yaml', root), 'utf8') };
    },
    async act(client) {
      for (const [name, size] of Object.entries({ small: 10, huge: 2000 })) {
        const body = { apiVersion: 'kopf.dev/v1', kind: 'KopfExample', metadata: { name }, spec: { size } };
        await client.request({ method: 'POST', path: '/apis/kopf.dev/v1/namespaces/default/kopfexamples', body });
      }
    },
    ends: /Creation is processed: 1 succeeded/,
  },
];

/** Those that have names. */
async function samplesOf(page: string): Promise<Files> {
  const text = await readFile(new URL(`docs/${page}.md`, root), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^```\w+ \[([^\]]+)\].*\n([\s\S]*?)^```/gm)].map(([, name, sample]) => [name, sample]),
  );
}

async function printed({ command, files, act, ends }: Picture): Promise<string> {
  const { folder: place, kopf } = await project(await files(), { name: 'hello' });
  const dev = kopf(command.split(' ').slice(1), { env: { FORCE_COLOR: '1', TZ: 'UTC' } });
  await act?.(await connected(dev));
  await dev.logs(ends);
  return `\u001B[1m$ npx ${command}\u001B[0m\n${dev.screen.replaceAll(dirname(place), '~')}`;
}

/** A client of the cluster that the command has started. */
async function connected(dev: RunningProgram): Promise<KubeClient> {
  const path = await eventually(() => {
    const [, file = ''] = /export KUBECONFIG=(.*)/.exec(stripVTControlCharacters(dev.screen)) ?? [];
    expect(file).not.toBe('');
    return file;
  });
  const connection = (await loginWithKubeconfig({ path })) as ConnectionInfo;
  const client = kubeClient({ connection, clock: realClock, logger: recordingLogger() });
  onTestFinished(() => client.close());
  return client;
}

describe.skipIf(isMissing)('pictures of the terminal', () => {
  it.each(pictures)('$name', async (picture) => {
    if (found.kind === 'unavailable') return;
    const browser = await found.launch();
    onTestFinished(() => browser.close());
    const text = await printed(picture);
    if (isWriting) await mkdir(folder, { recursive: true });
    const page = await browser.newPage({ viewport: picture.size, deviceScaleFactor: 1.5 });
    await page.setContent(terminalPage(text));
    const shown = await page.locator('code').boundingBox();
    expect(shown?.height).toBeLessThan(picture.size.height - 40);
    const taken = await page.screenshot({ omitBackground: true });
    const file = new URL(`${picture.name}.png`, folder);
    if (isWriting) await writeFile(file, taken);
    const kept = await readFile(file);
    // Of the same size: a PNG tells it at these places.
    expect([kept.readUInt32BE(16), kept.readUInt32BE(20)]).toEqual([taken.readUInt32BE(16), taken.readUInt32BE(20)]);
  });
});

describe('the terminal of the pictures', () => {
  it('has colours and forms, which may be in each other', () => {
    expect(coloured('a\u001B[33mb\u001B[1mc\u001B[39md\u001B[0m<e>')).toBe(
      'a<span class="yellow">b</span><span class="yellow bold">c</span><span class="bold">d</span>&lt;e&gt;',
    );
  });

  it('refuses what it does not know', () => {
    expect(() => coloured('\u001B[45mpink')).toThrow('the code 45');
    expect(() => coloured('\u001B[2Jcleared')).toThrow('colours only');
  });
});
