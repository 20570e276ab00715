/** Webhooks as the configurations describe them, parsed once per change of a configuration. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import { type LabelMatch, parseSelectorObject } from '../selectors/label-selector-objects.js';

export interface HookRule {
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  /** Plurals, with subresources after a slash; either of them may be an asterisk. */
  readonly resources: readonly string[];
  readonly operations: readonly string[];
  readonly scope: string;
}

/**
 * The service that a webhook configuration names.
 *
 * ```ts
 * import type { ServiceReference } from 'kopf-ts/testing';
 * const isOurs = ({ namespace, name }: ServiceReference): boolean => namespace === 'operators' && name === 'webhooks';
 * ```
 */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly port: number;
}

export interface Hook {
  readonly name: string;
  /** Unique among all configurations of the kind. */
  readonly id: string;
  readonly rules: readonly HookRule[];
  readonly matchesEquivalents: boolean;
  readonly namespaceSelector: LabelMatch | undefined;
  readonly objectSelector: LabelMatch | undefined;
  readonly ignoresFailures: boolean;
  readonly timeoutSeconds: number;
  readonly hasSideEffects: boolean;
  readonly isReinvocable: boolean;
  readonly reviewVersions: readonly string[];
  readonly url: string | undefined;
  readonly service: ServiceReference | undefined;
  /** In PEM; absent if the authorities of the system should do. */
  readonly ca: string | undefined;
}

/** All the webhooks of a configuration, in their order. Match conditions are not evaluated: they count as met. */
export function parseHooks(configuration: Mapping): readonly Hook[] {
  const metadata = getOwn(configuration, 'metadata');
  const owner = isMapping(metadata) ? String(getOwn(metadata, 'name') ?? '') : '';
  return list(configuration, 'webhooks')
    .filter(isMapping)
    .map((source, index) => parseHook(source, `${owner}/${index}`));
}

function parseHook(source: Mapping, id: string): Hook {
  const client = getOwn(source, 'clientConfig');
  const config: Mapping = isMapping(client) ? client : {};
  const sideEffects = getOwn(source, 'sideEffects');
  const caBundle = text(config, 'caBundle');
  const service = getOwn(config, 'service');
  return {
    name: text(source, 'name'),
    id: `${id}/${text(source, 'name')}`,
    rules: list(source, 'rules').filter(isMapping).map(parseRule),
    matchesEquivalents: getOwn(source, 'matchPolicy') !== 'Exact',
    namespaceSelector: parseSelectorObject(getOwn(source, 'namespaceSelector')),
    objectSelector: parseSelectorObject(getOwn(source, 'objectSelector')),
    ignoresFailures: getOwn(source, 'failurePolicy') === 'Ignore',
    timeoutSeconds: Number(getOwn(source, 'timeoutSeconds') ?? 10),
    hasSideEffects: sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun',
    isReinvocable: getOwn(source, 'reinvocationPolicy') === 'IfNeeded',
    reviewVersions: list(source, 'admissionReviewVersions').map(String),
    url: text(config, 'url') || undefined,
    service: isMapping(service) ? parseService(service) : undefined,
    ca: caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8'),
  };
}

function parseRule(source: Mapping): HookRule {
  return {
    groups: list(source, 'apiGroups').map(String),
    versions: list(source, 'apiVersions').map(String),
    resources: list(source, 'resources').map(String),
    operations: list(source, 'operations').map(String),
    scope: text(source, 'scope') || '*',
  };
}

function parseService(source: Mapping): ServiceReference {
  return {
    namespace: text(source, 'namespace'),
    name: text(source, 'name'),
    path: text(source, 'path'),
    port: Number(getOwn(source, 'port') ?? 443),
  };
}

function list(source: Mapping, key: string): readonly unknown[] {
  const value = getOwn(source, key);
  return Array.isArray(value) ? value : [];
}

function text(source: Mapping, key: string): string {
  const value = getOwn(source, key);
  return typeof value === 'string' ? value : '';
}
