/** Ingresses and their classes. */
import { isIP } from 'node:net';
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { forbiddenField, invalidValue, notSupported, required, tooLong } from '../../text/field-causes.js';
import { dnsLabel, dnsSubdomain, pathSegment } from '../names.js';
import type { KindRules } from './rules.js';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

/** Paths that servers understand in different ways. */
const STRANGE = ['//', '/./', '/../', '%2f', '%2F'];

function validateHost(host: string, field: string, isNeeded = false): readonly Cause[] {
  if (host === '' && !isNeeded) return [];
  if (isIP(host) !== 0) return [invalidValue(field, host, 'must be a DNS name, not an IP address')];
  if (!host.includes('*')) return dnsSubdomain(host, false).map((why) => invalidValue(field, host, why));
  return wildcardSubdomain(host).map((why) => invalidValue(field, host, why));
}

function wildcardSubdomain(host: string): readonly string[] {
  if (host.startsWith('*.') && dnsSubdomain(host.slice(2), false).length === 0) return [];
  return [
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ];
}

function validateBackend(backend: Mapping, path: string): readonly Cause[] {
  const [service, resource] = [maybeMapping(backend, 'service'), maybeMapping(backend, 'resource')];
  if (service !== undefined && resource !== undefined) {
    return [invalidValue(path, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) {
    return ['kind', 'name']
      .filter((key) => resource[key] === undefined || resource[key] === '')
      .map((key) => required(`${path}.resource.${key}`));
  }
  if (service === undefined) return [invalidValue(path, '', 'resource or service backend is required')];
  const { name: port = '', number = 0 } = maybeMapping(service, 'port') ?? {};
  const name = String(service.name ?? '');
  const isNumber = Number(number) >= 1 && Number(number) <= 65_535;
  return [
    ...(name === ''
      ? [required(`${path}.service.name`)]
      : dnsLabel(name, false).map((why) => invalidValue(`${path}.service.name`, name, why))),
    ...(port !== '' && number !== 0 ? [invalidValue(path, '', 'cannot set both port name & port number')] : []),
    ...(port === '' && number === 0 ? [required(path, 'port name or number is required')] : []),
    ...(port === '' && number !== 0 && !isNumber
      ? [invalidValue(`${path}.service.port.number`, number, 'must be between 1 and 65535, inclusive')]
      : []),
  ];
}

const ingress: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const rules = itemsOf(spec, 'rules');
    if (rules.length === 0 && spec.defaultBackend === undefined) {
      return [invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified')];
    }
    const ofRules = rules.flatMap((rule, number) => [
      ...validateHost(String(rule.host ?? ''), `spec.rules[${number}].host`),
      ...(maybeMapping(rule, 'http') !== undefined && itemsOf(maybeMapping(rule, 'http'), 'paths').length === 0
        ? [required(`spec.rules[${number}].http.paths`)]
        : []),
      ...itemsOf(maybeMapping(rule, 'http'), 'paths').flatMap(({ path, pathType }, index) => {
        const at = `spec.rules[${number}].http.paths[${index}]`;
        if (pathType === undefined || pathType === null)
          return [required(`${at}.pathType`, 'pathType must be specified')];
        if (!PATH_TYPES.includes(String(pathType))) return [notSupported(`${at}.pathType`, pathType, PATH_TYPES)];
        const isAbsolute = String(path ?? '').startsWith('/');
        const mayBeEmpty = pathType === 'ImplementationSpecific' && (path ?? '') === '';
        if (!isAbsolute && !mayBeEmpty) return [invalidValue(`${at}.path`, path ?? '', 'must be an absolute path')];
        const strange =
          pathType === 'ImplementationSpecific' ? [] : STRANGE.filter((one) => String(path).includes(one));
        return strange.map((one) => invalidValue(`${at}.path`, path, `must not contain '${one}'`));
      }),
      // What a path without a type leads to does not matter.
      ...itemsOf(maybeMapping(rule, 'http'), 'paths').flatMap((path, index) =>
        path.pathType === undefined
          ? []
          : validateBackend(maybeMapping(path, 'backend') ?? {}, `spec.rules[${number}].http.paths[${index}].backend`),
      ),
    ]);
    const className = spec.ingressClassName;
    return [
      ...ofRules,
      ...itemsOf(spec, 'tls').flatMap(({ hosts, secretName = '' }, number) => [
        ...(Array.isArray(hosts) ? hosts : []).flatMap((host, index) =>
          validateHost(String(host), `spec.tls[${number}].hosts[${index}]`, true),
        ),
        ...(secretName === '' ? [] : dnsSubdomain(String(secretName), false)).map((why) =>
          invalidValue(`spec.tls[${number}].secretName`, secretName, why),
        ),
      ]),
      ...(spec.defaultBackend === undefined
        ? []
        : validateBackend(maybeMapping(spec, 'defaultBackend') ?? {}, 'spec.defaultBackend')),
      ...(typeof className === 'string'
        ? dnsSubdomain(className, false).map((why) => invalidValue('spec.ingressClassName', className, why))
        : []),
    ];
  },
};

function controllerProblems(controller: string): readonly Cause[] {
  const field = 'spec.controller';
  if (controller === '') return [required(field)];
  if (controller.length > 250) return [tooLong(field, 250)];
  const [domain = '', ...rest] = controller.split('/');
  if (rest.length === 0 || domain === '' || rest.join('/') === '') {
    return [invalidValue(field, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  return dnsSubdomain(domain, false).map((why) => invalidValue(field, controller, why));
}

/** The object with the parameters of a class: of the cluster, or of a namespace. */
function parameterProblems(parameters: Mapping | undefined, path: string): readonly Cause[] {
  if (parameters === undefined) return [];
  const { apiGroup, scope, namespace } = parameters;
  const causes: Cause[] = [
    ...(typeof apiGroup === 'string' ? dnsSubdomain(apiGroup, false) : []).map((why) =>
      invalidValue(`${path}.apiGroup`, apiGroup, why),
    ),
    ...['kind', 'name'].flatMap((key) => {
      const value = String(parameters[key] ?? '');
      if (value === '') return [required(`${path}.${key}`)];
      return pathSegment(value, false).map((why) => invalidValue(`${path}.${key}`, value, why));
    }),
  ];
  if (scope === undefined) return [...causes, required(`${path}.scope`)];
  if (scope !== 'Cluster' && scope !== 'Namespace') {
    return [...causes, notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace'])];
  }
  const field = `${path}.namespace`;
  if (scope === 'Cluster') {
    return namespace === undefined
      ? causes
      : [...causes, forbiddenField(field, "`parameters.scope` is set to 'Cluster'")];
  }
  if (namespace === undefined) return [...causes, required(field, "`parameters.scope` is set to 'Namespace'")];
  return [...causes, ...dnsLabel(String(namespace), false).map((why) => invalidValue(field, namespace, why))];
}

const ingressClass: KindRules = {
  validate: (object) => {
    const spec = maybeMapping(object, 'spec');
    return [
      ...controllerProblems(String(spec?.controller ?? '')),
      ...parameterProblems(maybeMapping(spec, 'parameters'), 'spec.parameters'),
    ];
  },
  validateUpdate(object, old) {
    const [now, before] = [maybeMapping(object, 'spec')?.controller, maybeMapping(old, 'spec')?.controller];
    return now === before ? [] : [invalidValue('spec.controller', now ?? '', 'field is immutable')];
  },
};

export const ingressRules: Readonly<Record<string, KindRules>> = {
  'networking.Ingress': ingress,
  'networking.IngressClass': ingressClass,
};
