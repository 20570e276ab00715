/** Our server with our reviews: one validating handler, everything else as in an operator. */
import {
  AdmissionError,
  createRegistry,
  type Insights,
  type KubeClient,
  type Logger,
  type Mapping,
  settings as makeSettings,
} from '@kopf-ts/core';
import { makeResource } from '@kopf-ts/core/engine';
import { allObjects, systemClock } from '@kopf-ts/reactor';
import { annotationsDiffBaseStorage, smartProgressStorage } from '@kopf-ts/storage';
import { reviewer, webhookServer } from '@kopf-ts/webhooks';
import { tellCpuTime } from './cpu-time.js';

const client: KubeClient = {
  request: () => Promise.reject(new Error('There is no cluster.')),
  stream: () => {
    throw new Error('There is no cluster.');
  },
};
const examples = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', kind: 'KopfExample' });
const insights: Insights = {
  watched: new Set(),
  indexed: new Set(),
  webhook: new Set([examples]),
  namespaces: new Set(),
  find: () => undefined,
  whenReady: () => Promise.resolve(),
  async *revisions() {
    yield;
  },
};
/** As in production: nothing of what happens all the time is of interest. */
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (text) => console.warn(text),
  error: (text) => console.error(text),
  isEnabled: (level) => level === 'warn' || level === 'error',
  child: () => logger,
};

const registry = createRegistry();
registry.on.validate('kopfexamples', function checkSize({ spec }) {
  if (!/^\d+Gi$/.test(String((spec as Mapping)['size'])))
    throw new AdmissionError('The size must be in Gi.', { code: 422 });
});
const settings = makeSettings();
settings.persistence.progressStorage = smartProgressStorage();
settings.persistence.diffbaseStorage = annotationsDiffBaseStorage();
const clock = systemClock;
const memos = allObjects({ memo: {}, now: () => clock.now(), logger });
const parts = { registry, settings, clock, logger, client, insights, memos };
const { signal } = new AbortController();

const configs = webhookServer({ addr: '127.0.0.1' }).serve({
  review: reviewer(parts),
  signal,
  logger,
  clock,
  client,
  connection: () => Promise.reject(new Error('There is no cluster.')),
});
for await (const { url, caBundle = '' } of configs) {
  tellCpuTime();
  process.send?.({ url, ca: Buffer.from(caBundle, 'base64').toString('utf8') });
}
