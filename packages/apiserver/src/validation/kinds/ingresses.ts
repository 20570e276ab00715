/** Ingresses and their classes. */

import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { invalidValue, notSupported, required } from '../../text/field-causes.js';
import type { KindRules } from './rules.js';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

const ingress: KindRules = {
  validate(object) {
    const spec = maybeMapping(object, 'spec') ?? {};
    const rules = itemsOf(spec, 'rules');
    if (rules.length === 0 && spec.defaultBackend === undefined) {
      return [invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified')];
    }
    return rules.flatMap((rule, number) =>
      itemsOf(maybeMapping(rule, 'http'), 'paths').flatMap(({ path, pathType }, index) => {
        const at = `spec.rules[${number}].http.paths[${index}]`;
        if (pathType === undefined || pathType === null)
          return [required(`${at}.pathType`, 'pathType must be specified')];
        if (!PATH_TYPES.includes(String(pathType))) return [notSupported(`${at}.pathType`, pathType, PATH_TYPES)];
        const isAbsolute = String(path ?? '').startsWith('/');
        const mayBeEmpty = pathType === 'ImplementationSpecific' && (path ?? '') === '';
        return isAbsolute || mayBeEmpty ? [] : [invalidValue(`${at}.path`, path ?? '', 'must be an absolute path')];
      }),
    );
  },
};

const ingressClass: KindRules = {
  validateUpdate(object, old) {
    const [now, before] = [maybeMapping(object, 'spec')?.controller, maybeMapping(old, 'spec')?.controller];
    return now === before ? [] : [invalidValue('spec.controller', now ?? '', 'field is immutable')];
  },
};

export const ingressRules: Readonly<Record<string, KindRules>> = {
  'networking.Ingress': ingress,
  'networking.IngressClass': ingressClass,
};
