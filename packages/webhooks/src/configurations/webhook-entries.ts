/** From the handlers to the webhooks in the configurations of the cluster. Pure. */
import { ABSENT, deepCopy, type Mapping, PRESENT, type Resource, type WebhookClientConfig } from '@kopf-ts/core';
import type { WebhookHandler } from '@kopf-ts/core/engine';
import { encodeId, isServicePath, kopfName, servicePaths, webhookNames } from './webhook-names.js';

export type AdmissionReason = WebhookHandler['reason'];

/** One of `webhooks` of a configuration, as it is sent. */
export interface WebhookEntry extends Mapping {
  readonly name: string;
}

export interface EntriesOptions {
  readonly reason: AdmissionReason;
  /** The name of the configuration. */
  readonly managed: string;
  readonly config: WebhookClientConfig;
  /** The kinds that are there to be reviewed. */
  readonly resources: Iterable<Resource>;
  /** Only those that remain when the operator is gone. */
  readonly onlyPersistent?: boolean | undefined;
  /** Exactly as Kopf makes them, be they acceptable to the API server or not. */
  readonly compat?: 'kopf' | undefined;
}

/** How long the API server waits for an answer, where the handler does not say it. */
const DEFAULT_TIMEOUT = 30;

/** The webhooks of all handlers of one kind, in the order of registration. All handlers are to be given, of both kinds. */
export function webhookEntries(handlers: Iterable<WebhookHandler>, options: EntriesOptions): readonly WebhookEntry[] {
  const { reason, managed, compat } = options;
  const all = [...handlers];
  const own = all.filter((handler) => handler.reason === reason);
  const ids = own.map(({ id }) => id);
  const names = compat === 'kopf' ? ids.map((id) => kopfName(id, managed)) : webhookNames(ids, managed);
  const paths = servicePaths(all.map(({ id }) => id));
  return own
    .map((handler, index) => entryOf(handler, names[index] ?? '', paths.get(handler.id) ?? '', options))
    .filter((_entry, index) => !options.onlyPersistent || own[index]?.persistent);
}

function entryOf(handler: WebhookHandler, name: string, servicePath: string, options: EntriesOptions): WebhookEntry {
  const { namespaceSelector, matchConditions } = handler;
  return {
    name,
    sideEffects: handler.sideEffects ? 'NoneOnDryRun' : 'None',
    failurePolicy: handler.ignoreFailures ? 'Ignore' : 'Fail',
    matchPolicy: 'Equivalent',
    rules: resourcesOf(handler, options.resources).map((resource) => ruleOf(handler, resource, options.compat)),
    objectSelector: objectSelectorOf(handler),
    clientConfig: clientConfigOf(handler, servicePath, options),
    timeoutSeconds: handler.timeoutSeconds ?? DEFAULT_TIMEOUT,
    admissionReviewVersions: ['v1', 'v1beta1'],
    ...(namespaceSelector === undefined ? {} : { namespaceSelector: deepCopy(namespaceSelector) }),
    ...(matchConditions === undefined ? {} : { matchConditions: deepCopy(matchConditions) }),
  };
}

function resourcesOf(handler: WebhookHandler, resources: Iterable<Resource>): Resource[] {
  return [...resources].filter((resource) => handler.selector?.check(resource) ?? false);
}

function ruleOf(handler: WebhookHandler, { group, version, plural }: Resource, compat: 'kopf' | undefined): Mapping {
  const { subresource, operations } = handler;
  const whole = subresource === undefined || (subresource === '*' && compat !== 'kopf') ? [plural] : [];
  const part = subresource === undefined ? [] : [`${plural}/${subresource}`];
  return {
    apiGroups: [group],
    apiVersions: [version],
    resources: [...whole, ...part],
    operations: [...new Set(operations ?? ['*'])],
    scope: '*',
  };
}

/**
 * Objects that the handler does not want by their labels need not be asked about. What else it is filtered by is not
 * known to the API server. For updates, the object fits if it did so before or does so after them: so we are asked
 * more often than the handler wants, but never less.
 */
function objectSelectorOf({ labels = {}, objectSelector }: WebhookHandler): Mapping | null {
  const expressions = Object.entries(labels).flatMap(([key, value]): Mapping[] => {
    if (typeof value === 'function') return [];
    if (value === PRESENT) return [{ key, operator: 'Exists' }];
    if (value === ABSENT) return [{ key, operator: 'DoesNotExist' }];
    return [{ key, operator: 'In', values: [String(value)] }];
  });
  if (objectSelector === undefined) return expressions.length > 0 ? { matchExpressions: expressions } : null;
  const given = deepCopy(objectSelector) as Mapping;
  const { matchExpressions } = given;
  const givenExpressions: unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  return expressions.length > 0 ? { ...given, matchExpressions: [...givenExpressions, ...expressions] } : given;
}

/** Where the API server goes for this one handler. */
function clientConfigOf({ id }: WebhookHandler, servicePath: string, { config, compat }: EntriesOptions): Mapping {
  const { url, service, ...others } = deepCopy(config);
  return {
    ...others,
    ...(url === undefined ? {} : { url: `${url.replace(/\/+$/, '')}/${encodeId(id)}` }),
    ...(service === undefined
      ? {}
      : { service: { ...service, path: pathInService(service.path, id, servicePath, compat) } }),
  };
}

function pathInService(base = '', id: string, servicePath: string, compat: 'kopf' | undefined): string {
  const asInKopf = `${base}/${encodeId(id)}`;
  if (compat === 'kopf' || (asInKopf.startsWith('/') && isServicePath(asInKopf.slice(1)))) return asInKopf;
  return ['', ...base.split('/').filter((step) => step !== ''), servicePath].join('/');
}

/** The handlers that will never be called, as the API server does not ask about its own admission. */
export function neverCalled(
  handlers: Iterable<WebhookHandler>,
  { reason, resources }: Pick<EntriesOptions, 'reason' | 'resources'>,
): readonly WebhookHandler[] {
  const all = [...resources];
  return [...handlers].filter((handler) => {
    const matching = resourcesOf(handler, all);
    return handler.reason === reason && matching.length > 0 && matching.every(isOfAdmission);
  });
}

function isOfAdmission({ group }: Resource): boolean {
  return group === 'admissionregistration.k8s.io';
}
