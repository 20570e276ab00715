/** The kinds of a run, the objects of them, and what is found in them: directly, where no fault is. */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { HttpKubeClient } from '@kopf-ts/client';
import type { AnyObject } from '@kopf-ts/core';
import type { Remnant, Values } from './history.js';

export const NAMESPACE = 'default';
const GROUP = 'chaos.example.com';
export const SELECTOR = `${GROUP}/v1/things`;
const PREFIX = 'kopf.zalando.org/';
const LAST_HANDLED = `${PREFIX}last-handled-configuration`;
export const FINALIZER = `${PREFIX}KopfFinalizerMarker`;

export type Plural = 'things' | 'deployments';
const PLURALS: readonly Plural[] = ['things', 'deployments'];

export const pathOf = (plural: Plural, name?: string): string => {
  const api = plural === 'things' ? `/apis/${GROUP}/v1` : '/apis/apps/v1';
  return `${api}/namespaces/${NAMESPACE}/${plural}${name === undefined ? '' : `/${name}`}`;
};

/** The server completes the items of the list. */
const port = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    protocol: { type: 'string', default: 'TCP' },
    number: { type: 'integer', default: 80 },
  },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  round: { type: 'integer' },
                  size: { type: 'integer' },
                  ports: { type: 'array', items: port },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

/** Defines the kind, and waits until it is served. */
export async function defineKind(client: HttpKubeClient): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await persistently(() => client.request({ method: 'POST', path, body: definition }));
  await persistently(() => client.request({ method: 'GET', path: pathOf('things'), retries: 'none' }));
}

/** Repeats it while the server does not answer, or does not know yet what it serves; refusals of the request are thrown. */
export async function persistently<T>(ask: () => Promise<T>, withinMs = 60_000): Promise<T> {
  const began = Date.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const { status } = error as { status?: number };
      const isRefused = status === 400 || status === 409 || status === 422;
      const isAbsent = status === 404 && Date.now() - began > 5_000;
      if (isRefused || isAbsent || Date.now() - began > withinMs) throw error;
      await pause(100);
    }
  }
}

export function newObject(plural: Plural, name: string, values: Values, labels: Record<string, string>): AnyObject {
  const { edit, round, size } = values;
  if (plural === 'things') {
    const metadata = { name, labels: { ...labels, edit: String(edit) } };
    return { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata, spec: { round, size } };
  }
  const app = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { ...labels, edit: String(edit), round: String(round) } },
    spec: {
      replicas: 0,
      selector: { matchLabels: app },
      template: { metadata: { labels: app }, spec: { containers: [{ name: 'main', image: 'app:initial' }] } },
    },
  };
}

export async function allObjects(client: HttpKubeClient): Promise<Remnant[]> {
  const lists = await Promise.all(
    PLURALS.map(async (plural) => {
      const { items } = await persistently(() =>
        client.request<{ items: AnyObject[] }>({ method: 'GET', path: pathOf(plural) }),
      );
      return items.map((item) => remnantOf(plural, item));
    }),
  );
  return lists.flat();
}

function remnantOf(plural: Plural, body: AnyObject): Remnant {
  const { metadata = {}, spec = {}, status = {} } = body;
  const { annotations = {}, labels = {} } = metadata;
  const values: Values = {
    edit: Number(labels['edit'] ?? -1),
    round: Number(labels['round'] ?? spec.round ?? -1),
    size: Number(spec.size ?? -1),
  };
  const rounds = [status.prepare, status['apply/spec.round']].map((result) => Number(result?.round ?? -1));
  return {
    uid: metadata.uid ?? '',
    key: `${plural}/${metadata.name}`,
    isDeleting: metadata.deletionTimestamp != null,
    finalizers: metadata.finalizers ?? [],
    marks: Object.keys(annotations)
      .filter((key) => key.startsWith(PREFIX) && key !== LAST_HANDLED)
      .map((key) => key.slice(PREFIX.length)),
    lastHandled: lastHandledOf(body),
    values,
    effects:
      plural === 'things'
        ? { port: spec.ports?.[0]?.name, protocol: spec.ports?.[0]?.protocol, result: Math.max(...rounds) }
        : { image: spec.template?.spec?.containers?.[0]?.image },
  };
}

/** By an essence of our own making: what is checked is not asked how it is right. */
function lastHandledOf({ apiVersion, kind, metadata = {}, status, ...rest }: AnyObject): Remnant['lastHandled'] {
  void [apiVersion, kind, status];
  const { annotations = {}, labels = {} } = metadata;
  const stored = annotations[LAST_HANDLED];
  if (stored === undefined) return 'absent';
  const foreign = Object.entries(annotations).filter(([key]) => !key.startsWith(PREFIX));
  const kept = {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(foreign.length > 0 && { annotations: Object.fromEntries(foreign) }),
  };
  const essence = { ...rest, ...(Object.keys(kept).length > 0 && { metadata: kept }) };
  return isDeepStrictEqual(JSON.parse(stored), essence) ? 'equal' : 'different';
}

/** There is nothing left to do for it. */
export function isSettled({ isDeleting, marks, lastHandled }: Remnant): boolean {
  return !isDeleting && marks.length === 0 && lastHandled === 'equal';
}
