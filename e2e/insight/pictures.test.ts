/**
 * The pictures of the console in the README and in the documentation: of a busy operator, in a real browser. Each time, it
 * is seen that they can be taken; `npm run pictures` takes them anew: look at them afterwards.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { localCluster } from '@kopf-ts/apiserver';
import { webhookServer } from '@kopf-ts/webhooks';
import {
  AdmissionError,
  type AnyObject,
  createRegistry,
  operator,
  PermanentError,
  type Registry,
  settings,
  TemporaryError,
} from 'kopf-ts';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../controlplane/ports.js';
import { eventually } from '../support/operators/operators.js';
import { findChromium } from './chromium.js';

const found = await findChromium();
const isMissing = found.kind === 'unavailable';
const isWriting = process.env['KOPF_TS_PICTURES'] === 'write';
const folder = new URL('../../docs/public/console/', import.meta.url);

const GROUP = 'shop.example.com';
const kinds: Readonly<Record<string, string>> = { databases: 'Database', backups: 'Backup' };

function declareAll({ on, daemon, timer }: Registry): void {
  on.create(`databases.${GROUP}`, { id: 'create_volume' }, ({ name, spec, logger, patch }) => {
    logger.info(`Creating a volume of ${spec['size']} for ${name}`);
    if (spec['size'] === '2Ti')
      throw new PermanentError('The quota is exceeded: 2Ti of storage are asked for, 500Gi are left');
    if (spec['class'] === 'fast') throw new TemporaryError('The volume is not bound yet', { delay: 90 });
    patch.status['volume'] = `pv-${name}`;
  });
  on.update(`databases.${GROUP}`, { id: 'resize', field: 'spec.size' }, ({ logger, old, new: size }) => {
    logger.info(`Resizing from ${old} to ${size}`);
  });
  on.validate(`databases.${GROUP}`, { id: 'check_size' }, ({ spec }) => {
    if (spec['size'] === undefined) throw new AdmissionError('A database needs a size', { code: 400 });
  });
  daemon(`databases.${GROUP}`, { id: 'monitor', labels: { monitored: 'yes' } }, async ({ stopped }) => {
    await new Promise((resolve) => stopped.addEventListener('abort', resolve));
  });
  timer(`backups.${GROUP}`, { id: 'take_backup', interval: 3600 }, ({ logger, name }) => {
    logger.info(`Taking the backup ${name}`);
  });
}

/** All that is in the pictures. */
async function busyOperator(): Promise<string> {
  const cluster = await localCluster();
  onTestFinished(() => cluster.stop());
  for (const [plural, kind] of Object.entries(kinds)) await cluster.define({ group: GROUP, plural, kind });
  const console = `http://127.0.0.1:${(await freePorts(1))[0]}`;
  const registry = createRegistry();
  registry.on.login(() => ({ server: cluster.url, token: cluster.token }));
  registry.on.startup(({ settings: own }) => {
    own.admission.server = webhookServer({ addr: '127.0.0.1' });
    own.admission.managed = `auto.${GROUP}`;
  });
  declareAll(registry);
  const running = operator({
    registry,
    console,
    identity: 'shop-operator',
    clusterwide: true,
    standalone: true,
    settings: settings({}),
    logger: silent,
  });
  onTestFinished(() => running.stop().catch(() => {}));
  await running.ready;
  for (const namespace of ['shop', 'billing']) {
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  const create = async (kind: string, namespace: string, name: string, spec: object, labels: object = {}) => {
    const object = { apiVersion: `${GROUP}/v1`, kind, metadata: { name, namespace, labels }, spec };
    await cluster.create(object as AnyObject);
  };
  for (const name of ['orders', 'customers', 'carts']) {
    await create('Database', 'shop', name, { size: '20Gi' }, name === 'carts' ? {} : { monitored: 'yes' });
  }
  await create('Database', 'shop', 'search', { size: '40Gi', class: 'fast' });
  await create('Database', 'billing', 'invoices', { size: '80Gi' }, { monitored: 'yes' });
  await create('Database', 'billing', 'archive', { size: '2Ti' });
  await create('Database', 'shop', 'sizeless', {}).catch(() => {});
  for (const name of ['nightly', 'weekly']) await create('Backup', 'shop', name, { of: 'orders' });
  await cluster.patch(`databases.${GROUP}/shop/carts`, { spec: { size: '30Gi' } });
  await cluster.patch(`databases.${GROUP}/shop/carts`, {
    metadata: { annotations: { 'kopf.zalando.org/paused-until': new Date(Date.now() + 3_600_000).toISOString() } },
  });
  await eventually(() => {
    const phases = running.control.objects().map(({ phase, isPaused }) => (isPaused ? 'paused' : phase));
    expect(phases.toSorted()).toEqual([...Array.from({ length: 6 }, () => 'idle'), 'paused', 'waiting']);
  });
  return console;
}

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

interface Picture {
  readonly name: string;
  readonly address: string;
  /** It is there when the picture is taken. */
  readonly shows: string;
  readonly isPhone?: boolean;
  /** Those that are shown somewhere. */
  readonly isKept?: (scheme: 'light' | 'dark') => boolean;
}

const search = `atResource=databases.${GROUP}&atNamespace=shop&atName=search`;
const pictures: readonly Picture[] = [
  {
    name: 'objects',
    address: `#/objects?${search}`,
    shows: 'Creating a volume of 40Gi for search',
    isKept: () => true,
  },
  { name: 'handlers', address: '#/handlers', shows: 'create_volume', isKept: (scheme) => scheme === 'light' },
  // That is the lag, when it is measured.
  { name: 'streams', address: '#/streams', shows: 'none' },
  { name: 'operator', address: '#/operator', shows: 'Being handled' },
  { name: 'reviews', address: '#/reviews', shows: 'check_size' },
  {
    name: 'phone',
    address: '#/objects',
    shows: 'The volume is not bound yet',
    isPhone: true,
    isKept: (scheme) => scheme === 'dark',
  },
];

async function take(page: Page, { address, shows }: Picture, url: string): Promise<Buffer> {
  await page.goto(`${url}/${address}`);
  await page.getByText(shows).filter({ visible: true }).first().waitFor();
  await eventually(async () => expect(await page.locator('#connection').textContent()).toBe('live'));
  return await page.screenshot();
}

describe.skipIf(isMissing)('pictures of the console', () => {
  it.each(['light', 'dark'] as const)('%s', async (colorScheme) => {
    if (found.kind === 'unavailable') return;
    const browser = await found.launch();
    onTestFinished(() => browser.close());
    const url = await busyOperator();
    if (isWriting) await mkdir(folder, { recursive: true });
    for (const picture of pictures) {
      const viewport = picture.isPhone ? { width: 390, height: 760 } : { width: 1200, height: 640 };
      const page = await browser.newPage({
        viewport,
        colorScheme,
        deviceScaleFactor: 1.5,
        locale: 'en',
        timezoneId: 'UTC',
      });
      const taken = await take(page, picture, url);
      await page.close();
      if (!picture.isKept?.(colorScheme)) continue;
      const file = new URL(`${picture.name}-${colorScheme}.png`, folder);
      if (isWriting) await writeFile(file, taken);
      const kept = await readFile(file);
      // Of the same size: a PNG tells it at these places.
      expect([kept.readUInt32BE(16), kept.readUInt32BE(20)]).toEqual([taken.readUInt32BE(16), taken.readUInt32BE(20)]);
    }
  });
});
