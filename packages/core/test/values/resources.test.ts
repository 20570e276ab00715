import { describe, expect, it } from 'vitest';
import { KopfError } from '../../src/errors.js';
import {
  formatResource,
  makeResource,
  type ResourceAddress,
  resource,
  resourceKey,
  resourceUrl,
  sameResource,
  uniqueResources,
} from '../../src/values/resources/resource.js';
import type { StandardSchema } from '../../src/values/standard-schema.js';

const pods = makeResource({ group: '', version: 'v1', plural: 'pods', namespaced: true });
const nodes = makeResource({ group: '', version: 'v1', plural: 'nodes', namespaced: false });
const kexes = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'kopfexamples', namespaced: true });
const guess = makeResource({ group: 'kopf.dev', version: 'v1', plural: 'guesses' });

describe('a resource', () => {
  it('has empty sets, a preferred version and an unknown scope unless told otherwise', () => {
    expect(makeResource({ group: 'g', version: 'v', plural: 'p', kind: undefined })).toStrictEqual({
      group: 'g',
      version: 'v',
      plural: 'p',
      shortcuts: new Set(),
      categories: new Set(),
      subresources: new Set(),
      preferred: true,
      verbs: new Set(),
    });
  });

  it('keeps everything that is told', () => {
    const fields = {
      group: 'g',
      version: 'v',
      plural: 'p',
      kind: 'K',
      singular: 's',
      namespaced: false,
      preferred: false,
    };
    const sets = { shortcuts: ['x'], categories: ['all'], subresources: ['status'], verbs: ['list', 'watch'] };
    expect(makeResource({ ...fields, ...sets })).toStrictEqual({
      ...fields,
      shortcuts: new Set(['x']),
      categories: new Set(['all']),
      subresources: new Set(['status']),
      verbs: new Set(['list', 'watch']),
    });
  });

  it('is identified by its group, version and plural name only', () => {
    const again = makeResource({
      group: 'kopf.dev',
      version: 'v1',
      plural: 'kopfexamples',
      kind: 'Other',
      verbs: ['get'],
    });
    expect(sameResource(kexes, again)).toBe(true);
    expect(resourceKey(kexes)).toBe(resourceKey(again));
    for (const different of [{ group: 'x' }, { version: 'x' }, { plural: 'x' }]) {
      expect(sameResource(kexes, { ...kexes, ...different })).toBe(false);
      expect(resourceKey(kexes)).not.toBe(resourceKey({ ...kexes, ...different }));
    }
  });

  it('is kept once in a set of unique ones, as it was described first', () => {
    const again = makeResource({ ...kexes, kind: 'Other' });
    expect([...uniqueResources([kexes, pods, again])]).toStrictEqual([kexes, pods]);
  });

  it.each([
    [kexes, 'kopfexamples.v1.kopf.dev'],
    [pods, 'pods.v1'],
    [makeResource({ group: 'g', version: 'v1', plural: 'p', subresources: ['status'] }), 'p.v1.g'],
  ])('is named in logs by its plural name, version and group: %#', (subject, text) => {
    expect(formatResource(subject)).toBe(text);
  });
});

describe('the URL of a resource', () => {
  it.each<[typeof pods, ResourceAddress | undefined, string]>([
    [pods, undefined, '/api/v1/pods'],
    [pods, { namespace: null }, '/api/v1/pods'],
    [pods, { namespace: 'ns' }, '/api/v1/namespaces/ns/pods'],
    [pods, { namespace: 'ns', name: 'x' }, '/api/v1/namespaces/ns/pods/x'],
    [pods, { namespace: 'ns', name: 'x', subresource: 'status' }, '/api/v1/namespaces/ns/pods/x/status'],
    [nodes, { name: 'x' }, '/api/v1/nodes/x'],
    [nodes, { name: 'x', subresource: 'status' }, '/api/v1/nodes/x/status'],
    [kexes, undefined, '/apis/kopf.dev/v1/kopfexamples'],
    [kexes, { namespace: 'ns', name: 'x' }, '/apis/kopf.dev/v1/namespaces/ns/kopfexamples/x'],
    [makeResource({ group: '', version: 'v2', plural: 'pods' }), undefined, '/apis/v2/pods'],
    [makeResource({ group: 'g', version: 'v1', plural: 'pods' }), undefined, '/apis/g/v1/pods'],
    [guess, { name: 'x' }, '/apis/kopf.dev/v1/guesses/x'],
    [guess, { namespace: 'ns', name: 'x' }, '/apis/kopf.dev/v1/namespaces/ns/guesses/x'],
  ])('leads to where the address says: %#', (subject, address, url) => {
    expect(resourceUrl(subject, address)).toBe(url);
  });

  it('has a form-encoded query, without what is undefined', () => {
    const query = { q: 'abc%def xyz', watch: true, limit: 500, none: undefined };
    expect(resourceUrl(pods, { query })).toBe('/api/v1/pods?q=abc%25def+xyz&watch=true&limit=500');
    expect(resourceUrl(pods, { query: {} })).toBe('/api/v1/pods');
    expect(resourceUrl(pods, { query: new URLSearchParams('a=1&a=2') })).toBe('/api/v1/pods?a=1&a=2');
  });

  it('has its segments encoded, so that a name is always one segment', () => {
    const address = { namespace: 'a/b', name: 'c?d#e%f', subresource: 's/t' };
    expect(resourceUrl(pods, address)).toBe('/api/v1/namespaces/a%2Fb/pods/c%3Fd%23e%25f/s%2Ft');
  });

  it.each<[string, typeof pods, ResourceAddress]>([
    ['KOPF_URL_SUBRESOURCE_WITHOUT_NAME', pods, { namespace: 'ns', subresource: 'status' }],
    ['KOPF_URL_NAMESPACE_OF_CLUSTER_SCOPED', nodes, { namespace: 'ns' }],
    ['KOPF_URL_NAMESPACE_OF_CLUSTER_SCOPED', nodes, { namespace: 'ns', name: 'x' }],
    ['KOPF_URL_NAME_WITHOUT_NAMESPACE', pods, { name: 'x' }],
    ['KOPF_URL_NAME_WITHOUT_NAMESPACE', pods, { name: 'x', namespace: null }],
    ['KOPF_URL_BAD_SEGMENT', pods, { namespace: '' }],
    ['KOPF_URL_BAD_SEGMENT', pods, { namespace: 'ns', name: '' }],
    ['KOPF_URL_BAD_SEGMENT', pods, { namespace: 'ns', name: '..' }],
    ['KOPF_URL_BAD_SEGMENT', pods, { namespace: '.', name: 'x' }],
    ['KOPF_URL_BAD_SEGMENT', pods, { namespace: 'ns', name: 'x', subresource: '..' }],
  ])('is refused rather than guessed, with %s: %#', (code, subject, address) => {
    const attempt = () => resourceUrl(subject, address);
    expect(attempt).toThrow(KopfError);
    expect(attempt).toThrow(expect.objectContaining({ code }));
  });
});

describe('a resource token', () => {
  const schema: StandardSchema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };

  it('holds the selector and nothing else when made of types', () => {
    const token = resource<{ size: string }>({ group: 'g', version: 'v', plural: 'p' });
    expect(token).toStrictEqual({ selector: { group: 'g', version: 'v', plural: 'p' } });
  });

  it('says whether the objects are in namespaces, if it was told', () => {
    const token = resource<{ size: string }>({ group: 'g', version: 'v', plural: 'p', namespaced: false });
    expect(token).toStrictEqual({ selector: { group: 'g', version: 'v', plural: 'p' }, namespaced: false });
  });

  it('holds the schemas apart from the selector when made of them', () => {
    const ofSpec = resource({ group: 'g', kind: 'K', spec: schema });
    expect(ofSpec).toStrictEqual({ selector: { group: 'g', kind: 'K' }, schema: { spec: schema } });
    const ofBoth = resource({ group: 'g', kind: 'K', spec: schema, status: schema });
    expect(ofBoth).toStrictEqual({ selector: { group: 'g', kind: 'K' }, schema: { spec: schema, status: schema } });
  });
});
