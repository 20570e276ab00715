/** The console in a real browser: what it shows, what can be done in it, and what hostile objects can do to it: nothing. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeClient, PermanentError, type Registry, TemporaryError } from '@kopf-ts/core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { describeOnClusters, startEmbedded, type TestCluster } from '../support/operators/clusters.js';
import type { TestKind } from '../support/operators/kinds.js';
import {
  eventually,
  startOperator,
  type TestOperator,
  type TestOperatorOptions,
} from '../support/operators/operators.js';
import { findChromium } from './chromium.js';

const found = await findChromium();
const isMissing = found.kind === 'unavailable';
if (isMissing) console.log(`insight: the tests of the console in a browser are SKIPPED: ${found.reason}`);

let browser: Browser | undefined;
beforeAll(async () => {
  if (found.kind === 'found') browser = await found.launch();
});
afterAll(() => browser?.close());

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u001b[31m\u202egnp';

function declareAll({ on, daemon, timer }: Registry, { selector }: TestKind): void {
  on.create(selector, { id: 'make' }, ({ name, logger, spec }) => {
    logger.info(`Making ${name}`);
    if (spec['mood'] === 'later') throw new TemporaryError('the disk is not there yet', { delay: 600 });
    if (spec['mood'] === 'never')
      throw new PermanentError('there is no such size: 2Ti of storage are asked for, 500Gi are left in the quota');
    if (spec['mood'] === 'hostile') throw new PermanentError(HOSTILE);
  });
  timer(selector, { id: 'tick', interval: 600, labels: { watched: 'yes' } }, () => {});
  daemon(selector, { id: 'follow', labels: { watched: 'yes' } }, async ({ stopped }) => {
    await new Promise((resolve) => stopped.addEventListener('abort', resolve));
  });
}

interface Place {
  readonly url: string;
  readonly kind: TestKind;
  readonly namespace: string;
  readonly client: KubeClient;
  readonly operator: TestOperator;
}

async function place(cluster: TestCluster, options: Partial<TestOperatorOptions> = {}): Promise<Place> {
  const [kind, namespace] = [await cluster.newKind(), await cluster.newNamespace()];
  const url = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  const operator = await startOperator(cluster, (registry) => declareAll(registry, kind), {
    namespaces: [namespace],
    console: url,
    ...options,
  });
  return { url, kind, namespace, client: cluster.client, operator };
}

/** A page, and all that it has asked for and complained about. */
interface Opened extends Page {
  readonly asked: string[];
  readonly complaints: string[];
}

async function open(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  if (browser === undefined) throw new Error('There is no browser.');
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const [asked, complaints]: [string[], string[]] = [[], []];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(url);
  return Object.assign(page, { asked, complaints });
}

const eventsAbout = async (client: KubeClient, namespace: string): Promise<readonly string[]> => {
  const path = `/api/v1/namespaces/${namespace}/events`;
  const { items } = await client.request<{ items: { reason: string }[] }>({ method: 'GET', path });
  return items.map(({ reason }) => reason).filter((reason) => reason !== 'Logging');
};

describe.skipIf(isMissing)('in Chromium', () => {
  describeOnClusters('the console', (cluster) => {
    it('shows objects as they are handled; and retries, pauses and resumes them, each recorded as an event', async () => {
      const { url, kind, namespace, client } = await place(cluster());
      const page = await open(url);
      await page.getByText('The operator has seen no objects yet.').waitFor();
      await kind.create(namespace, 'good', {});
      await kind.create(namespace, 'later', { spec: { mood: 'later' } });
      await kind.create(namespace, 'never', { spec: { mood: 'never' } });
      await kind.create(namespace, 'watched', { metadata: { labels: { watched: 'yes' } } });
      const rows = page.getByRole('table', { name: 'Objects' }).getByRole('row');
      const states = async () =>
        (await rows.allInnerTexts())
          .slice(1)
          .map((text) => text.split('\n').join(' ').split(/\s+/))
          .map((words) => `${words[0]?.split('/').pop()} ${words.find((word) => STATES.includes(word))}`);
      await eventually(async () =>
        expect(await states()).toEqual(['never failed', 'later retrying', 'watched daemons', 'good done']),
      );
      await page.getByRole('link', { name: 'later' }).click();
      await page.getByRole('heading', { name: `${namespace}/later` }).waitFor();
      const detail = page.locator('.detail');
      await detail.getByText('the disk is not there yet').first().waitFor();
      await detail.getByText('Making later').first().waitFor();
      const status = page.getByRole('status');
      const reads = async (text: string) => await eventually(async () => expect(await status.textContent()).toBe(text));
      await page.getByRole('button', { name: 'Retry now' }).click();
      await reads('Retried.');
      await page.getByRole('combobox', { name: 'For how long' }).selectOption('900');
      await page.getByRole('button', { name: 'Pause' }).click();
      await eventually(async () => expect(await status.textContent()).toMatch(/^Paused until /));
      await detail.getByText('paused', { exact: true }).waitFor();
      const { metadata } = (await kind.get(namespace, 'later')) as {
        metadata: { annotations: Record<string, string> };
      };
      const until = new Date(metadata.annotations['kopf.zalando.org/paused-until'] ?? '').getTime() - Date.now();
      expect(until / 1000).toBeGreaterThan(600);
      // It ends with a whole second.
      expect(until / 1000).toBeLessThanOrEqual(901);
      await page.getByRole('button', { name: 'Resume' }).click();
      await reads('Resumed.');
      await detail.getByText('retrying', { exact: true }).waitFor();
      await eventually(async () =>
        expect((await eventsAbout(client, namespace)).toSorted()).toEqual(['Paused', 'Resumed', 'Retried']),
      );
      // What is gone leaves the list.
      await kind.delete(namespace, 'good');
      await eventually(async () => expect(await states()).toHaveLength(3));
      expect(page.complaints).toEqual([]);
      expect(new Set(page.asked.map((asked) => new URL(asked).origin))).toEqual(new Set([url]));
    });
  });

  describe('the page', () => {
    let cluster: Awaited<ReturnType<typeof startEmbedded>>;
    beforeAll(async () => {
      cluster = await startEmbedded();
    });
    afterAll(() => cluster[Symbol.asyncDispose]());

    it('takes texts of others for texts, whatever they look like, and asks nobody but the operator', async () => {
      const { url, kind, namespace } = await place(cluster);
      await kind.create(namespace, 'hostile', { spec: { mood: 'hostile' } });
      const page = await open(url);
      await page.getByRole('link', { name: 'hostile' }).click();
      await page.locator('.detail').getByText('document.title=2').first().waitFor();
      // The commands of terminals and of directions are shown as what they are.
      await page.locator('.detail').getByText('\\u202egnp').first().waitFor();
      expect(await page.locator('img, body script + script').count()).toBe(0);
      expect(await page.title()).toContain('kopf console');
      const address = new URL(page.url());
      for (const view of VIEWS) {
        await page.goto(
          `${address.origin}/#/${view}?resource=${encodeURIComponent(HOSTILE)}&text=${encodeURIComponent(HOSTILE)}`,
        );
        await page
          .getByRole('link', { name: new RegExp(`^${view}`, 'i') })
          .first()
          .waitFor();
      }
      expect(await page.title()).toContain('kopf console');
      expect(page.complaints).toEqual([]);
      expect(new Set(page.asked.map((asked) => new URL(asked).origin))).toEqual(new Set([url]));
    });

    it('shows handlers, streams and the operator itself', async () => {
      const { url, kind, namespace } = await place(cluster);
      await kind.create(namespace, 'good', {});
      await kind.create(namespace, 'never', { spec: { mood: 'never' } });
      const page = await open(url);
      await page.getByRole('link', { name: 'never' }).waitFor();
      const views = page.getByRole('navigation', { name: 'Views' });
      await views.getByRole('link', { name: /^Handlers/ }).click();
      const handlers = page.getByRole('table', { name: 'Handlers' });
      const made = handlers.getByRole('row').filter({ hasText: 'make' });
      await eventually(async () => expect(await made.textContent()).toMatch(/change.*50 %.*2.*1/s));
      await handlers.getByRole('row').filter({ hasText: 'follow' }).getByText('never called').waitFor();
      await views.getByRole('link', { name: /^Streams/ }).click();
      const stream = page.getByRole('table', { name: 'Streams' }).getByRole('row').filter({ hasText: kind.plural });
      await eventually(async () => expect(await stream.textContent()).toMatch(/watching.*none/s));
      await views.getByRole('link', { name: /^Operator/ }).click();
      await page.getByText('No peers: the operator runs alone').waitFor();
      await page.getByText(namespace, { exact: true }).waitFor();
      await views.getByRole('link', { name: /^Reviews/ }).click();
      await page.getByText('No reviews since the operator started.').waitFor();
      await page.goBack();
      await page.getByRole('heading', { name: 'Queue' }).waitFor();
      expect(page.complaints).toEqual([]);
    });

    it('asks for a token where there are tokens; with one for reading, nothing can be done', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'kopf-console-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const tokenFile = join(folder, 'tokens');
      await writeFile(tokenFile, 'to-look read\nto-act\n');
      const { url, kind, namespace } = await place(cluster, { admin: { tokenFile } });
      await kind.create(namespace, 'later', { spec: { mood: 'later' } });
      const page = await open(url);
      const field = page.getByLabel("A token from the operator's token file");
      await field.fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('This token was not accepted.').waitFor();
      await field.fill('to-look');
      await field.press('Enter');
      await page.getByText('read-only').waitFor();
      await page.getByRole('link', { name: 'later' }).click();
      await page.locator('.detail').getByText('the disk is not there yet').first().waitFor();
      expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0);
      // It is remembered as long as the tab is open, and it is in no address.
      await page.reload();
      await page.getByText('read-only').waitFor();
      const other = await open(`${url}/#/objects?token=to-act&atResource=${kind.selector}`);
      await other.getByRole('link', { name: 'later' }).click();
      await other.getByRole('button', { name: 'Retry now' }).waitFor();
      expect(other.url()).not.toContain('to-act');
      expect(other.asked.join()).not.toContain('to-act');
    });

    it('can be used by the keyboard alone', async () => {
      const { url, kind, namespace } = await place(cluster);
      for (const name of ['apple', 'banana', 'cherry']) await kind.create(namespace, name, {});
      const page = await open(url);
      await page.getByRole('link', { name: 'cherry' }).waitFor();
      const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.id');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
      await page.keyboard.press('/');
      expect(await focused()).toBe('search');
      await page.keyboard.type('an');
      await eventually(async () => expect(await page.getByRole('link', { name: 'apple' }).count()).toBe(0));
      for (let letter = 0; letter < 2; letter += 1) await page.keyboard.press('Backspace');
      await page.getByRole('link', { name: 'apple' }).waitFor();
      await page.getByRole('link', { name: 'apple' }).focus();
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toBe('banana');
      await page.keyboard.press('Enter');
      await eventually(async () => expect(await focused()).toBe(`${namespace}/banana`));
      // From there on, the actions are next; and what is focused stays so while the page is brought up to date.
      const pause = page.getByRole('button', { name: 'Pause', exact: true });
      for (let step = 0; step < 8 && (await focused()) !== 'Pause'; step += 1) await page.keyboard.press('Tab');
      expect(await focused()).toBe('Pause');
      await kind.create(namespace, 'date', {});
      await page.getByRole('link', { name: 'date' }).waitFor();
      expect(await focused()).toBe('Pause');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await pause.count()).toBe(0);
      expect(await focused()).toBe('Resume');
      await page.keyboard.press('Escape');
      await eventually(async () => expect(await focused()).toBe('banana'));
      expect(await page.locator('.detail').isVisible()).toBe(false);
    });

    it.each<[string, BrowserContextOptions]>([
      ['light', { colorScheme: 'light' }],
      ['dark', { colorScheme: 'dark' }],
      ['a phone, light', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
      ['a phone, dark', { colorScheme: 'dark', viewport: { width: 320, height: 640 } }],
    ])('can be read, has names for all that can be used, and does not run over: %s', async (_, options) => {
      const { url, kind, namespace } = await place(cluster, { identity: `op-${'x'.repeat(90)}` });
      const long = `a${'-very'.repeat(12)}-long-name`;
      await kind.create(namespace, long, { spec: { mood: 'never' } });
      await kind.create(namespace, 'later', { spec: { mood: 'later' } });
      await kind.create(namespace, 'good', {});
      const page = await open(url, options);
      const isDark = options.colorScheme === 'dark';
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(Number(/\d+/.exec(String(ground))?.[0]) < 128).toBe(isDark);
      const at = `atResource=${kind.plural}.${kind.group}&atNamespace=${namespace}&atName=${long}`;
      for (const view of [...VIEWS, `objects?${at}`]) {
        await page.goto(`${url}/#/${view}`);
        await eventually(async () => expect(await page.locator('#connection').textContent()).toBe('live'));
        const [name = ''] = view.split('?');
        await page
          .locator('nav [aria-current=page]')
          .filter({ hasText: new RegExp(name, 'i') })
          .waitFor();
        if (view === 'objects') await page.getByText(long).first().waitFor();
        if (view.includes('?')) await page.locator('.detail').getByText('Making').first().waitFor();
        const found = (await page.evaluate(AUDIT)) as Audit;
        expect({ view, ...found }).toEqual({ view, faint: [], nameless: [], cutOff: [], tooWide: 0 });
      }
      expect(page.complaints).toEqual([]);
    });

    it('comes back by itself when the operator does', async () => {
      const { url, kind, namespace, operator } = await place(cluster);
      await kind.create(namespace, 'good', {});
      const page = await open(url);
      await page.getByRole('link', { name: 'good' }).waitFor();
      await operator.stop();
      await eventually(async () => expect(await page.locator('#connection').textContent()).toBe('reconnecting'));
      await startOperator(cluster, (registry) => declareAll(registry, kind), { namespaces: [namespace], console: url });
      await eventually(async () => expect(await page.locator('#connection').textContent()).toBe('live'));
      await kind.create(namespace, 'better', {});
      await page.getByRole('link', { name: 'better' }).waitFor();
    });
  });
});

const STATES = ['failed', 'retrying', 'running', 'waiting', 'paused', 'daemons', 'done'];
const VIEWS = ['objects', 'handlers', 'streams', 'operator', 'reviews'];

interface Audit {
  readonly faint: readonly string[];
  readonly nameless: readonly string[];
  readonly cutOff: readonly string[];
  readonly tooWide: number;
}

/** In the page: texts with too little contrast (WCAG 2.2 AA) or cut off, what can be used and has no name, pixels beyond the width. */
const AUDIT = `(() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const pixel = (...layers) => {
    pen.clearRect(0, 0, 1, 1);
    for (const layer of layers) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const grounds = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
    return layers;
  };
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const faint = new Set();
  const cutOff = new Set();
  const isCut = (range, element) => {
    for (let one = element; one; one = one.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(one);
      if (overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis') return false;
      const isClipping = overflowX !== 'visible';
      if (isClipping && range.getBoundingClientRect().right > one.getBoundingClientRect().right + 1) return true;
    }
    return range.getBoundingClientRect().right > innerWidth + 1;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === '' || !isSeen(element) || element.closest('script, style, :disabled')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (isCut(range, element)) cutOff.add(node.textContent.trim().slice(0, 30));
    const layers = grounds(element);
    const [one, two] = [light(pixel(...layers, getComputedStyle(element).color)), light(pixel(...layers))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) faint.add(node.textContent.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  const nameless = [...document.querySelectorAll('a, button, input, select, [role=img], table, section')]
    .filter(isSeen)
    .filter((one) => !(one.textContent.trim() && !/TABLE|SECTION/.test(one.tagName)) && !one.labels?.length)
    .filter((one) => !one.getAttribute('aria-label') && !one.getAttribute('aria-labelledby'))
    .map((one) => one.outerHTML.slice(0, 80));
  const tooWide = Math.max(0, document.documentElement.scrollWidth - innerWidth);
  return { faint: [...faint], nameless, cutOff: [...cutOff], tooWide };
})()`;
