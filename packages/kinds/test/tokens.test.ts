import { readdir, readFile } from 'node:fs/promises';
import { sep } from 'node:path';
import { localCluster } from '@kopf-ts/apiserver';
import type { ResourceToken } from '@kopf-ts/core';
import { discover, parseSelector, scopeMistake } from '@kopf-ts/core/engine';
import * as all from '@kopf-ts/kinds';
import * as autoscalingV1 from '@kopf-ts/kinds/autoscaling/v1';
import * as autoscalingV2 from '@kopf-ts/kinds/autoscaling/v2';
import * as events from '@kopf-ts/kinds/events.k8s.io/v1';
import * as core from '@kopf-ts/kinds/v1';
import { describe, expect, it } from 'vitest';

const src = new URL('../src/', import.meta.url);

async function modules(): Promise<string[]> {
  const files = (await readdir(src, { recursive: true })).map((file) => file.replaceAll(sep, '/'));
  return files.filter((file) => file.endsWith('index.ts')).sort();
}

describe('the tokens', () => {
  it('are selectors that say whether objects are in namespaces, and nothing else', () => {
    expect(all.Deployment).toEqual({
      selector: { group: 'apps', version: 'v1', plural: 'deployments' },
      namespaced: true,
    });
    expect(all.Namespace).toEqual({ selector: { group: '', version: 'v1', plural: 'namespaces' }, namespaced: false });
  });

  it('are all that there is at run time', async () => {
    const tokens: unknown[] = [];
    for (const file of await modules())
      tokens.push(...Object.values((await import(new URL(file, src).href)) as object));
    expect(new Set(tokens).size).toBeGreaterThan(60);
    const selector = { group: expect.any(String), version: expect.any(String), plural: expect.any(String) };
    for (const token of tokens) expect(token).toEqual({ selector, namespaced: expect.any(Boolean) });
  });

  it('of namesakes are those of the core and of the newest version, if nobody asks for others', () => {
    expect(all.Event).toBe(core.Event);
    expect(all.Event).not.toBe(events.Event);
    expect(all.HorizontalPodAutoscaler).toBe(autoscalingV2.HorizontalPodAutoscaler);
    expect(all.HorizontalPodAutoscaler).not.toBe(autoscalingV1.HorizontalPodAutoscaler);
  });

  it('name the kinds of the embedded server, with the places of their objects', async () => {
    await using cluster = await localCluster({ listen: false });
    const { resources } = await discover(cluster.client);
    const isOwn = ({ group }: { group: string }) => !group.includes('.') || group.endsWith('.k8s.io');
    const served = resources.filter((resource) => isOwn(resource));
    expect(served.length).toBeGreaterThan(30);
    const tokens = new Map<string, ResourceToken>();
    for (const file of await modules()) {
      for (const token of Object.values((await import(new URL(file, src).href)) as Record<string, ResourceToken>)) {
        const { group, version, plural } = token.selector;
        tokens.set(`${group}/${version}/${plural}`, token);
      }
    }
    for (const resource of served) {
      const { group, version, plural } = resource;
      const token = tokens.get(`${group}/${version}/${plural}`);
      expect(token, plural).toBeDefined();
      const selector = parseSelector(token as ResourceToken);
      expect([...selector.select(resources)]).toEqual([resource]);
      expect(scopeMistake(selector, resource)).toBeUndefined();
    }
  });
});

describe('the package', () => {
  it('has an entry for each group and version, named by its apiVersion', async () => {
    const { exports } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
      exports: Record<string, string | Record<string, string>>;
    };
    const sources = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [] : entry['@kopf-ts/source'],
    );
    expect(sources.sort()).toEqual((await modules()).map((file) => `./src/${file}`).sort());
    const entries = Object.entries(exports).filter(([, entry]) => typeof entry !== 'string');
    for (const [entry, { '@kopf-ts/source': source }] of entries as [string, Record<string, string>][]) {
      expect(source).toBe(`./src/${entry === '.' ? '' : `${entry.slice(2)}/`}index.ts`);
    }
  });
});
