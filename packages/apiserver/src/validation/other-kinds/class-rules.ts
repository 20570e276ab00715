/** Priorities and runtimes of pods, and requests for certificates. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { SYSTEM_PRIORITIES } from '../../kinds/system-priorities.js';
import { typeNamed } from '../../schemas/types.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../text/field-causes.js';
import { goQuote } from '../../text/go-text.js';
import type { KindRules } from '../kinds/rules.js';
import { validateLabels } from '../metadata.js';
import { dnsLabel, labelValue, qualifiedName } from '../names.js';
import { validateResources } from '../pods/pod-resources.js';

const MOST_OF_USERS = 1_000_000_000;
const POLICIES = ['PreemptLowerPriority', 'Never'];

const priorityClass: KindRules = {
  validate(object) {
    const policy = object.preemptionPolicy;
    return [
      ...(policy === undefined || POLICIES.includes(String(policy))
        ? []
        : [notSupported('preemptionPolicy', policy, POLICIES)]),
    ];
  },
  validateCreate: (object) => validatePriority(object.metadata.name ?? '', object),
  validateUpdate: (object, old) => [
    ...((object.value ?? 0) === (old.value ?? 0) ? [] : [forbiddenField('value', 'may not be changed in an update.')]),
    ...(object.preemptionPolicy === old.preemptionPolicy
      ? []
      : [invalidValue('preemptionPolicy', object.preemptionPolicy, 'field is immutable')]),
  ],
};

function validatePriority(name: string, object: Mapping): readonly Cause[] {
  const value = Number(object.value ?? 0);
  if (!name.startsWith('system-')) {
    const why = `maximum allowed value of a user defined priority is ${MOST_OF_USERS}`;
    return value > MOST_OF_USERS ? [forbiddenField('value', why)] : [];
  }
  const known = SYSTEM_PRIORITIES.find((one) => one.name === name);
  const problem =
    known === undefined
      ? `${name} is not a known system priority class`
      : value !== known.value
        ? `value of ${name} PriorityClass must be ${known.value}`
        : object.globalDefault === true
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined;
  if (problem === undefined) return [];
  const why = `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`;
  return [forbiddenField('metadata.name', why)];
}

const runtimeClass: KindRules = {
  validate(object) {
    const handler = String(object.handler ?? '');
    const overhead = maybeMapping(maybeMapping(object, 'overhead'), 'podFixed') ?? {};
    const scheduling = maybeMapping(object, 'scheduling');
    return [
      ...(handler === '' ? [required('handler')] : []),
      ...(handler === '' ? [] : dnsLabel(handler, false).map((why) => invalidValue('handler', handler, why))),
      ...validateResources({ limits: overhead }, 'overhead'),
      ...validateLabels(
        (maybeMapping(scheduling, 'nodeSelector') ?? {}) as Record<string, string>,
        'scheduling.nodeSelector',
      ),
      ...validateTolerations(itemsOf(scheduling, 'tolerations'), 'scheduling.tolerations'),
    ];
  },
  validateUpdate: (object, old) =>
    object.handler === old.handler ? [] : [invalidValue('handler', object.handler, 'field is immutable')],
};

function validateTolerations(tolerations: readonly Mapping[], path: string): readonly Cause[] {
  const seen = new Set<string>();
  return tolerations.flatMap((toleration, index) => {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds = null } = toleration;
    const shown = JSON.stringify({
      Key: key,
      Operator: operator,
      Value: value,
      Effect: effect,
      TolerationSeconds: tolerationSeconds,
    });
    const isRepeated = seen.has(shown);
    seen.add(shown);
    const repeated = { ...duplicate(`${path}[${index}]`, ''), message: `Duplicate value: ${shown}` };
    return [...validateToleration(toleration, `${path}[${index}]`), ...(isRepeated ? [repeated] : [])];
  });
}

const EFFECTS = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];

function validateToleration(toleration: Mapping, path: string): readonly Cause[] {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  const everything = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
  const ofOperator = (): readonly Cause[] => {
    if (operator === 'Exists') {
      return value === ''
        ? []
        : [invalidValue(`${path}.operator`, toleration, "value must be empty when `operator` is 'Exists'")];
    }
    if (operator === '' || operator === 'Equal') {
      return labelValue(String(value)).map((why) => invalidValue(`${path}.operator`, value, why));
    }
    return [notSupported(`${path}.operator`, operator, ['Equal', 'Exists'])];
  };
  return [
    ...(key === '' ? [] : qualifiedName(String(key)).map((why) => invalidValue(`${path}.key`, key, why))),
    ...(key === '' && operator !== 'Exists' ? [invalidValue(`${path}.operator`, operator, everything)] : []),
    ...(toleration.tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [invalidValue(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : []),
    ...ofOperator(),
    ...(effect === '' || EFFECTS.includes(String(effect)) ? [] : [notSupported(`${path}.effect`, effect, EFFECTS)]),
  ];
}

const SIGNER = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
const SHORTEST = 600;

const signingRequest: KindRules = {
  validate(object) {
    const { request, signerName = '', usages, expirationSeconds: seconds } = maybeMapping(object, 'spec') ?? {};
    const pem = Buffer.from(String(request ?? ''), 'base64').toString('latin1');
    const known = typeNamed('certificates.CertificateSigningRequestSpec').byName.get('usages')?.values ?? [];
    const listed: readonly unknown[] = Array.isArray(usages) ? usages : [];
    const seen = new Set<unknown>();
    return [
      ...(/^-----BEGIN CERTIFICATE REQUEST-----$/m.test(pem)
        ? []
        : [invalidValue('spec.request', request ?? null, 'PEM block type must be CERTIFICATE REQUEST')]),
      ...(listed.length === 0 ? [required('spec.usages')] : []),
      ...listed.flatMap((usage, index) => {
        const isRepeated = seen.has(usage);
        seen.add(usage);
        if (!known.includes(String(usage))) return [notSupported(`spec.usages[${index}]`, usage, known)];
        return isRepeated ? [duplicate(`spec.usages[${index}]`, usage)] : [];
      }),
      ...(signerName === '' ? [required('spec.signerName')] : []),
      ...(signerName === '' || /^[^/]+\.[^/]+\/.+$/.test(String(signerName))
        ? []
        : [invalidValue('spec.signerName', signerName, SIGNER)]),
      ...(typeof seconds === 'number' && seconds < SHORTEST
        ? [
            invalidValue(
              'spec.expirationSeconds',
              seconds,
              `may not specify a duration less than ${SHORTEST} seconds (10 minutes)`,
            ),
          ]
        : []),
    ];
  },
  validateStatus(object, old) {
    const [status, before] = [maybeMapping(object, 'status') ?? {}, maybeMapping(old, 'status') ?? {}];
    const conditions = itemsOf(status, 'conditions');
    const has = (type: unknown): boolean => conditions.some((one) => one.type === type);
    const pem = Buffer.from(String(status.certificate ?? ''), 'base64').toString('latin1');
    const isCertificate = pem === '' || /^-----BEGIN CERTIFICATE-----$/m.test(pem);
    return [
      ...conditions.flatMap(({ type, status: is }, index) =>
        DECISIONS.includes(String(type)) && is !== 'True'
          ? [notSupported(`status.conditions[${index}].status`, is ?? '', ['True'])]
          : [],
      ),
      ...(has('Approved') && has('Denied')
        ? [
            invalidValue(
              'status.conditions',
              String(conditions.findLast(({ type }) => type === 'Approved' || type === 'Denied')?.type),
              'Approved and Denied conditions are mutually exclusive',
            ),
          ]
        : []),
      ...itemsOf(before, 'conditions')
        .filter(({ type }) => DECISIONS.includes(String(type)) && !has(type))
        .map(({ type }) =>
          forbiddenField('status.conditions', `updates may not remove a condition of type ${goQuote(String(type))}`),
        ),
      ...(isCertificate
        ? []
        : [
            invalidValue('status.certificate', '<certificate data>', 'must contain at least one CERTIFICATE PEM block'),
          ]),
    ];
  },
};

/** Once they are made, they stay. */
const DECISIONS = ['Approved', 'Denied', 'Failed'];

export const classRules: Readonly<Record<string, KindRules>> = {
  'scheduling.PriorityClass': priorityClass,
  'node.RuntimeClass': runtimeClass,
  'certificates.CertificateSigningRequest': signingRequest,
};
