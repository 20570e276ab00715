/** As whom, and how free, pods and their containers run. */
import type { Mapping } from '@kopf-ts/core';
import type { Cause } from '../../contracts/objects.js';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { duplicate, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../text/field-causes.js';

const ID_RANGE = 'must be between 0 and 2147483647, inclusive';
const idProblems = (id: unknown, field: string): readonly Cause[] =>
  typeof id === 'number' && (id < 0 || id > 2_147_483_647) ? [invalidValue(field, id, ID_RANGE)] : [];
const idsOf = (context: Mapping, keys: readonly string[], path: string): readonly Cause[] =>
  keys.flatMap((key) => idProblems(context[key], `${path}.${key}`));

const oneOf = (context: Mapping, key: string, values: readonly string[], path: string): readonly Cause[] =>
  context[key] === undefined || values.includes(String(context[key]))
    ? []
    : [notSupported(`${path}.${key}`, context[key], values)];

const PROFILES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function typeProblems(profile: Mapping, key: string, path: string): readonly Cause[] {
  const { type = '' } = profile;
  if (type === '') return [required(`${path}.type`, `type is required when ${key} is set`)];
  return PROFILES.includes(String(type)) ? [] : [notSupported(`${path}.type`, type, PROFILES)];
}

/** A path below something else. */
export function descendingPath(value: string, field: string): readonly Cause[] {
  return [
    ...(value.startsWith('/') ? [invalidValue(field, value, 'must be a relative path')] : []),
    ...(value.split('/').includes('..') ? [invalidValue(field, value, "must not contain '..'")] : []),
  ];
}

function seccompProblems(context: Mapping, parent: string): readonly Cause[] {
  const profile = maybeMapping(context, 'seccompProfile');
  if (profile === undefined) return [];
  const path = `${parent}.seccompProfile`;
  const { type = '', localhostProfile: file } = profile;
  const field = `${path}.localhostProfile`;
  const ofFile = (): readonly Cause[] => {
    if (type === 'Localhost') {
      if (file === undefined) return [required(field, 'must be set when seccomp type is Localhost')];
      return descendingPath(String(file), field);
    }
    if (file === undefined) return [];
    const shown = JSON.stringify({ Type: type, LocalhostProfile: file });
    const why = 'can only be set when seccomp type is Localhost';
    return [{ ...invalidValue(field, '', ''), message: `Invalid value: ${shown}: ${why}` }];
  };
  return [...typeProblems(profile, 'seccompProfile', path), ...ofFile()];
}

export function appArmorProblems(profile: Mapping | undefined, path: string): readonly Cause[] {
  if (profile === undefined) return [];
  const { type = '', localhostProfile: file } = profile;
  const field = `${path}.localhostProfile`;
  const missing = required(field, 'must be set when AppArmor type is Localhost');
  const wrong = typeProblems(profile, 'appArmorProfile', path);
  if (wrong.length > 0) return wrong;
  if (type !== 'Localhost') {
    return file === undefined ? [] : [invalidValue(field, file, 'can only be set when AppArmor type is Localhost')];
  }
  if (file === undefined) return [missing];
  const text = String(file);
  return [
    ...(text.trim() !== text
      ? [invalidValue(field, text, 'must not be padded with whitespace')]
      : text === ''
        ? [missing]
        : []),
    ...(text.length > 4095 ? [tooLong(field, 4095)] : []),
  ];
}

const withoutCase = (key: string): string => key.toLowerCase();
const FIELDS = [
  ...['Capabilities', 'Privileged', 'SELinuxOptions', 'WindowsOptions', 'RunAsUser', 'RunAsGroup', 'RunAsNonRoot'],
  ...['ReadOnlyRootFilesystem', 'AllowPrivilegeEscalation', 'ProcMount', 'SeccompProfile', 'AppArmorProfile'],
];
/** The fields of those of its fields that are structures, in the order of the internal types. */
const PARTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Capabilities: { Add: null, Drop: null },
  SELinuxOptions: { User: '', Role: '', Type: '', Level: '' },
  WindowsOptions: { GMSACredentialSpecName: null, GMSACredentialSpec: null, RunAsUserName: null, HostProcess: null },
  SeccompProfile: { Type: '', LocalhostProfile: null },
  AppArmorProfile: { Type: '', LocalhostProfile: null },
};

/** A context as the real server shows it: all fields of its internal type. */
function shownContext(context: Mapping): string {
  const valueIn = (mapping: Mapping, name: string): unknown =>
    Object.entries(mapping).find(([key]) => withoutCase(key) === withoutCase(name))?.[1];
  const shown = FIELDS.map((name) => {
    const value = valueIn(context, name);
    const parts = PARTS[name];
    if (value === undefined || parts === undefined) return [name, value ?? null];
    const inner = Object.entries(parts).map(([part, none]) => [part, valueIn(value as Mapping, part) ?? none]);
    return [name, Object.fromEntries(inner)];
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/** Of a container. */
export function validateSecurityContext(
  context: Mapping | undefined,
  path: string,
  isOnHost: boolean,
): readonly Cause[] {
  if (context === undefined) return [];
  const { procMount } = context;
  const whole = (why: string): Cause => ({
    ...invalidValue(path, '', ''),
    message: `Invalid value: ${shownContext(context)}: ${why}`,
  });
  const added = maybeMapping(context, 'capabilities')?.add;
  const cannot = 'cannot set `allowPrivilegeEscalation` to false and';
  const administrators = (Array.isArray(added) ? added : []).filter((name) => name === 'CAP_SYS_ADMIN');
  return [
    ...idsOf(context, ['runAsUser', 'runAsGroup'], path),
    ...oneOf(context, 'procMount', ['Default', 'Unmasked'], path),
    ...(isOnHost && procMount === 'Unmasked'
      ? [invalidValue(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...seccompProblems(context, path),
    ...(context.allowPrivilegeEscalation === false
      ? [
          ...(context.privileged === true ? [whole(`${cannot} \`privileged\` to true`)] : []),
          ...administrators.map(() => whole(`${cannot} \`capabilities.Add\` CAP_SYS_ADMIN`)),
        ]
      : []),
    ...appArmorProblems(maybeMapping(context, 'appArmorProfile'), `${path}.appArmorProfile`),
  ];
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_RULE =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

function sysctlProblems(context: Mapping, path: string): readonly Cause[] {
  const seen = new Set<unknown>();
  return itemsOf(context, 'sysctls').flatMap(({ name = '' }, index) => {
    const field = `${path}.sysctls[${index}].name`;
    const isRepeated = seen.has(name);
    seen.add(name);
    if (name === '') return [required(field)];
    const text = String(name);
    if (text.length > 253 || !SYSCTL.test(text)) return [invalidValue(field, name, SYSCTL_RULE)];
    return isRepeated ? [duplicate(field, name)] : [];
  });
}

/** Of a pod. */
export function validatePodContext(spec: Mapping, parent: string): readonly Cause[] {
  const context = maybeMapping(spec, 'securityContext') ?? {};
  const path = `${parent}.securityContext`;
  const groups: readonly unknown[] = Array.isArray(context.supplementalGroups) ? context.supplementalGroups : [];
  return [
    ...idsOf(context, ['fsGroup', 'runAsUser', 'runAsGroup'], path),
    ...groups.flatMap((id, index) => idProblems(id, `${path}.supplementalGroups[${index}]`)),
    ...(spec.shareProcessNamespace === true && spec.hostPID === true
      ? [
          invalidValue(
            `${path}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...sysctlProblems(context, path),
    ...oneOf(context, 'fsGroupChangePolicy', ['Always', 'OnRootMismatch'], path),
    ...seccompProblems(context, path),
    ...appArmorProblems(maybeMapping(context, 'appArmorProfile'), `${path}.appArmorProfile`),
    ...oneOf(context, 'supplementalGroupsPolicy', ['Merge', 'Strict'], path),
    ...oneOf(context, 'seLinuxChangePolicy', ['MountOption', 'Recursive'], path),
  ];
}

/** In a user namespace of its own, a pod cannot share others with the host. The fields are called as there. */
export const userNamespaceProblems = (spec: Mapping, path: string): readonly Cause[] =>
  spec.hostUsers === false
    ? [
        ...(spec.hostNetwork === true ? [forbiddenField(`${path}.hostNetwork`, 'when `hostUsers` is false')] : []),
        ...(spec.hostPID === true ? [forbiddenField(`${path}.HostPID`, 'when `hostUsers` is false')] : []),
        ...(spec.hostIPC === true ? [forbiddenField(`${path}.HostIPC`, 'when `hostUsers` is false')] : []),
      ]
    : [];
