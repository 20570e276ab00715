/** What is wrong with a configuration of webhooks. */
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { Cause, ServedObject } from '../contracts/objects.js';
import { duplicate, invalidValue, notSupported, required } from '../text/field-causes.js';
import { dns1035Label, dnsSubdomain, labelValue, qualifiedName } from '../validation/names.js';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

/** All problems of the webhooks, for either kind of configurations. Match conditions are not looked at. */
export function validateWebhooks(configuration: ServedObject): readonly Cause[] {
  const hooks = list(configuration, 'webhooks').filter(isMapping);
  const names = hooks.map((hook) => text(hook, 'name'));
  return hooks.flatMap((hook, index) => {
    const path = `webhooks[${index}]`;
    const name = text(hook, 'name');
    return [
      ...validateName(name, `${path}.name`),
      ...list(hook, 'rules').flatMap((rule, at) => (isMapping(rule) ? validateRule(rule, `${path}.rules[${at}]`) : [])),
      ...validateChoice(hook, 'failurePolicy', ['Fail', 'Ignore'], path),
      ...validateChoice(hook, 'matchPolicy', ['Equivalent', 'Exact'], path),
      ...((getOwn(hook, 'sideEffects') ?? undefined) === undefined
        ? [required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(', ')}`)]
        : validateChoice(hook, 'sideEffects', SIDE_EFFECTS, path)),
      ...validateTimeout(hook, path),
      ...validateSelector(getOwn(hook, 'namespaceSelector'), `${path}.namespaceSelector`),
      ...validateSelector(getOwn(hook, 'objectSelector'), `${path}.objectSelector`),
      ...validateChoice(hook, 'reinvocationPolicy', ['IfNeeded', 'Never'], path),
      ...validateClient(mapping(hook, 'clientConfig'), `${path}.clientConfig`),
      ...validateReviewVersions(list(hook, 'admissionReviewVersions').map(String), `${path}.admissionReviewVersions`),
      ...(name !== '' && names.indexOf(name) < index ? [duplicate(`${path}.name`, name)] : []),
    ];
  });
}

function validateName(name: string, path: string): readonly Cause[] {
  if (name === '') return [required(path)];
  const problems = dnsSubdomain(name, false);
  if (problems.length > 0) return [invalidValue(path, name, problems.join(', '))];
  if (name.split('.').length >= 3) return [];
  return [invalidValue(path, name, 'should be a domain with at least three segments separated by dots')];
}

function validateChoice(hook: Mapping, key: string, choices: readonly string[], path: string): readonly Cause[] {
  const value = getOwn(hook, key) ?? undefined;
  return value === undefined || choices.includes(value as string)
    ? []
    : [notSupported(`${path}.${key}`, value, choices)];
}

function validateTimeout(hook: Mapping, path: string): readonly Cause[] {
  const timeout = getOwn(hook, 'timeoutSeconds');
  if (typeof timeout !== 'number' || (timeout >= 1 && timeout <= 30)) return [];
  return [invalidValue(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')];
}

function validateRule(rule: Mapping, path: string): readonly Cause[] {
  const operations = list(rule, 'operations').map(String);
  const groups = list(rule, 'apiGroups').map(String);
  const versions = list(rule, 'apiVersions').map(String);
  const alone = (values: readonly string[], key: string, others: string): readonly Cause[] =>
    values.length > 1 && values.includes('*')
      ? [invalidValue(`${path}.${key}`, values, `if '*' is present, must not specify other ${others}`)]
      : [];
  return [
    ...(operations.length === 0 ? [required(`${path}.operations`)] : []),
    ...alone(operations, 'operations', 'operations'),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${path}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...(groups.length === 0 ? [required(`${path}.apiGroups`)] : []),
    ...alone(groups, 'apiGroups', 'API groups'),
    ...(versions.length === 0 ? [required(`${path}.apiVersions`)] : []),
    ...alone(versions, 'apiVersions', 'API versions'),
    ...versions.flatMap((version, index) => (version === '' ? [required(`${path}.apiVersions[${index}]`)] : [])),
    ...validateResources(list(rule, 'resources').map(String), `${path}.resources`),
    ...validateChoice(rule, 'scope', SCOPES, path),
  ];
}

function validateResources(resources: readonly string[], path: string): readonly Cause[] {
  if (resources.length === 0) return [required(path)];
  const causes: Cause[] = [];
  const [wholes, everywhere] = [new Set<string>(), new Set<string>()];
  for (const [index, resource] of resources.entries()) {
    if (resource === '') causes.push(required(`${path}[${index}]`));
    const slash = resource.indexOf('/');
    if (slash < 0) continue;
    const [plural, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    const clash = (pattern: string): Cause =>
      invalidValue(`${path}[${index}]`, resource, `if '${pattern}' is present, must not specify ${resource}`);
    if (wholes.has(plural)) causes.push(clash(`${plural}/*`));
    if (everywhere.has(subresource)) causes.push(clash(`*/${subresource}`));
    if (subresource === '*') wholes.add(plural);
    if (plural === '*') everywhere.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    causes.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  const bare = resources.filter((resource) => resource !== '' && !resource.includes('/'));
  if (resources.includes('*') && bare.at(-1) !== '*') {
    const why = "if '*' is present, must not specify other resources without subresources";
    causes.push(invalidValue(path, resources, why));
  }
  return causes;
}

function validateReviewVersions(versions: readonly string[], path: string): readonly Cause[] {
  if (versions.length === 0) return [required(path, 'must specify one of v1, v1beta1')];
  const causes = versions.flatMap((version, index) => {
    const place = `${path}[${index}]`;
    if (versions.indexOf(version) < index) return [invalidValue(place, version, 'duplicate version')];
    return dns1035Label(version, false).map((why) => invalidValue(place, version, why));
  });
  if (versions.includes('v1') || versions.includes('v1beta1')) return causes;
  return [...causes, invalidValue(path, versions, 'must include at least one of v1, v1beta1')];
}

function validateClient(client: Mapping, path: string): readonly Cause[] {
  const [url, service] = [getOwn(client, 'url') ?? undefined, getOwn(client, 'service') ?? undefined];
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  if (typeof url === 'string') return validateUrl(url, `${path}.url`);
  return isMapping(service) ? validateService(service, `${path}.service`) : [];
}

const FORM = '; desired format: https://host[/path]';

function validateUrl(url: string, path: string): readonly Cause[] {
  // Not by `URL`, which repairs and invents: here it matters what was written.
  const match =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(url);
  const [, scheme = '', user, host = '', query = '', fragment = ''] = match ?? [];
  return [
    ...(scheme === 'https' ? [] : [invalidValue(path, scheme, `'https' is the only allowed URL scheme${FORM}`)]),
    ...(host === '' ? [invalidValue(path, host, `host must be specified${FORM}`)] : []),
    ...(user === undefined ? [] : [invalidValue(path, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalidValue(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalidValue(path, query, 'query parameters are not permitted in the URL')]),
  ];
}

function validateService(service: Mapping, path: string): readonly Cause[] {
  const port = getOwn(service, 'port') ?? 443;
  const isPort = typeof port === 'number' && port >= 1 && port <= 65535;
  const route = text(service, 'path');
  return [
    // The real server mixes the two up as well.
    ...(text(service, 'namespace') === '' ? [required(`${path}.name`)] : []),
    ...(text(service, 'name') === '' ? [required(`${path}.namespace`)] : []),
    ...(isPort
      ? []
      : [invalidValue(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive')]),
    ...validateRoute(route, `${path}.path`),
  ];
}

function validateRoute(route: string, path: string): readonly Cause[] {
  if (route === '' || route === '/') return [];
  if (route === '//') return [invalidValue(path, route, 'segment[0] may not be empty')];
  const start = route.startsWith('/') ? [] : [invalidValue(path, route, "must start with a '/'")];
  const segments = route.slice(1).replace(/\/$/, '').split('/');
  const inside = segments.flatMap((segment, index) => {
    if (segment === '') return [invalidValue(path, route, `segment[${index}] may not be empty`)];
    return dnsSubdomain(segment, false).map((why) => invalidValue(path, route, `segment[${index}]: ${why}`));
  });
  return [...start, ...inside];
}

function validateSelector(selector: unknown, path: string): readonly Cause[] {
  if (!isMapping(selector)) return [];
  const labels = Object.entries(mapping(selector, 'matchLabels')).flatMap(([key, value]) => [
    ...qualifiedName(key).map((why) => invalidValue(`${path}.matchLabels`, key, why)),
    ...labelValue(String(value)).map((why) => invalidValue(`${path}.matchLabels`, value, why)),
  ]);
  const expressions = list(selector, 'matchExpressions')
    .filter(isMapping)
    .flatMap((expression, index) => validateExpression(expression, `${path}.matchExpressions[${index}]`));
  return [...labels, ...expressions];
}

function validateExpression(expression: Mapping, path: string): readonly Cause[] {
  const operator = getOwn(expression, 'operator') ?? '';
  const values = list(expression, 'values');
  const key = text(expression, 'key');
  const ofKey = qualifiedName(key).map((why) => invalidValue(`${path}.key`, key, why));
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return ofKey;
    return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"), ...ofKey];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return ofKey;
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    return [{ reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field: `${path}.values` }, ...ofKey];
  }
  return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator'), ...ofKey];
}

function list(source: Mapping, key: string): readonly unknown[] {
  const value = getOwn(source, key);
  return Array.isArray(value) ? value : [];
}

function mapping(source: Mapping, key: string): Mapping {
  const value = getOwn(source, key);
  return isMapping(value) ? value : {};
}

function text(source: Mapping, key: string): string {
  const value = getOwn(source, key);
  return typeof value === 'string' ? value : '';
}
