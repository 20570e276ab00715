/** What pods must not have, or must have, one function each; the words are those of the real server. */
import type { Mapping } from '@kopf-ts/core';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import { goQuote } from '../../text/go-text.js';

/** A pod, or the template of one. */
export interface CheckedPod {
  readonly annotations: Mapping;
  readonly spec: Mapping;
  /** Of all sorts. */
  readonly containers: readonly Mapping[];
}

export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type PodCheck = (pod: CheckedPod) => Violation | undefined;

const contextOf = (one: Mapping): Mapping => maybeMapping(one, 'securityContext') ?? {};
const counted = (word: string, { length }: readonly unknown[]): string => (length === 1 ? word : `${word}s`);
const quoted = (texts: readonly unknown[]): string => texts.map((text) => `"${String(text)}"`).join(', ');
const inOrder = (values: Iterable<unknown>): string[] => [...new Set([...values].map(String))].sort();
const named = (word: string, items: readonly Mapping[]): string =>
  `${counted(word, items)} ${quoted(items.map(({ name }) => name))}`;
const uses = (items: readonly Mapping[]): string => (items.length === 1 ? 'uses' : 'use');

/** Who says so in a security context: `pod and containers "a", "b"`; empty if nobody does. */
function sayersOf({ spec, containers }: CheckedPod, says: (context: Mapping) => boolean): string {
  const saying = containers.filter((one) => says(contextOf(one)));
  return [...(says(contextOf(spec)) ? ['pod'] : []), ...(saying.length === 0 ? [] : [named('container', saying)])].join(
    ' and ',
  );
}

/** What all of them say under a key of their security contexts. */
const contextsOf = ({ spec, containers }: CheckedPod): Mapping[] => [spec, ...containers].map(contextOf);

/** What must be said by every container, or by the pod for those that do not. */
function silentOf({ spec, containers }: CheckedPod, key: string, isEnough: (value: unknown) => boolean): Mapping[] {
  const isSaid = contextOf(spec)[key] !== undefined && isEnough(contextOf(spec)[key]);
  return isSaid ? [] : containers.filter((one) => contextOf(one)[key] === undefined);
}

/** Pods in user namespaces of their own are somebody else on the host, whoever they are inside. */
const isOnHost = ({ spec }: CheckedPod): boolean => spec.hostUsers !== false;
const isOfWindows = ({ spec }: CheckedPod): boolean => maybeMapping(spec, 'os')?.name === 'windows';

export const onHostOnly =
  (check: PodCheck): PodCheck =>
  (pod) =>
    isOnHost(pod) ? check(pod) : undefined;
/** What has no meaning on Windows need not be said there. */
export const exceptWindows =
  (check: PodCheck): PodCheck =>
  (pod) =>
    isOfWindows(pod) ? undefined : check(pod);

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

export const appArmor: PodCheck = (pod) => {
  const typeOf = (context: Mapping): unknown => maybeMapping(context, 'appArmorProfile')?.type;
  const isBad = (context: Mapping): boolean => isForbiddenProfile(maybeMapping(context, 'appArmorProfile'));
  const annotated = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(APP_ARMOR) && !/^(|runtime\/default|localhost\/.*)$/s.test(String(value)))
    .map(([key, value]) => `${key}=${goQuote(String(value))}`)
    .sort();
  const types = inOrder(contextsOf(pod).filter(isBad).map(typeOf));
  const sayers = [sayersOf(pod, isBad), annotated.length === 0 ? '' : counted('annotation', annotated)]
    .filter((text) => text !== '')
    .join(' and ');
  if (sayers === '') return undefined;
  const values = [...types, ...annotated];
  return {
    reason: counted('forbidden AppArmor profile', values),
    detail: `${sayers} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

const isForbiddenProfile = (profile: Mapping | undefined): boolean =>
  profile !== undefined && profile.type !== 'RuntimeDefault' && profile.type !== 'Localhost';

const listOf = (context: Mapping, key: 'add' | 'drop'): readonly unknown[] => {
  const list = maybeMapping(context, 'capabilities')?.[key];
  return Array.isArray(list) ? list : [];
};

const USUAL_CAPABILITIES: ReadonlySet<unknown> = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]);

function addedBeyond({ containers }: CheckedPod, allowed: ReadonlySet<unknown>): string | undefined {
  const addedBy = (one: Mapping): unknown[] => listOf(contextOf(one), 'add').filter((name) => !allowed.has(name));
  const adding = containers.filter((one) => addedBy(one).length > 0);
  if (adding.length === 0) return undefined;
  const added = quoted(inOrder(adding.flatMap(addedBy)));
  return `${named('container', adding)} must not include ${added} in securityContext.capabilities.add`;
}

export const usualCapabilities: PodCheck = (pod) => {
  const detail = addedBeyond(pod, USUAL_CAPABILITIES);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

export const noCapabilities: PodCheck = (pod) => {
  const keeping = pod.containers.filter((one) => !listOf(contextOf(one), 'drop').includes('ALL'));
  const kept = `${named('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`;
  const details = [keeping.length === 0 ? undefined : kept, addedBeyond(pod, new Set(['NET_BIND_SERVICE']))];
  const detail = details.filter((one) => one !== undefined).join('; ');
  return detail === '' ? undefined : { reason: 'unrestricted capabilities', detail };
};

export const hostNamespaces: PodCheck = ({ spec }) => {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => spec[key] === true);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((key) => `${key}=true`).join(', ') };
};

export const hostPaths: PodCheck = ({ spec }) => {
  const volumes = itemsOf(spec, 'volumes').filter(({ hostPath }) => hostPath !== undefined);
  return volumes.length === 0 ? undefined : { reason: 'hostPath volumes', detail: named('volume', volumes) };
};

export const hostPorts: PodCheck = ({ containers }) => {
  const portsOf = (one: Mapping): unknown[] =>
    itemsOf(one, 'ports').flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [hostPort]));
  const bound = containers.filter((one) => portsOf(one).length > 0);
  if (bound.length === 0) return undefined;
  const ports = inOrder(bound.flatMap(portsOf));
  return {
    reason: 'hostPort',
    detail: `${named('container', bound)} ${uses(bound)} ${counted('hostPort', ports)} ${ports.join(', ')}`,
  };
};

export const hostsOfProbes: PodCheck = ({ containers }) => {
  const hostsOf = (one: Mapping): string[] => {
    const lifecycle = maybeMapping(one, 'lifecycle');
    return [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((key) => maybeMapping(one, key)),
      ...['postStart', 'preStop'].map((key) => maybeMapping(lifecycle, key)),
    ].flatMap((handler) =>
      ['httpGet', 'tcpSocket'].flatMap((key) => {
        const host = maybeMapping(handler, key)?.host ?? '';
        return host === '' ? [] : [String(host)];
      }),
    );
  };
  const asking = containers
    .filter((one) => hostsOf(one).length > 0)
    .sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
  if (asking.length === 0) return undefined;
  const hosts = inOrder(asking.flatMap(hostsOf));
  const title = counted('probe or lifecycle host', hosts);
  return {
    reason: 'probe or lifecycle host',
    detail: `${named('container', asking)} ${uses(asking)} ${title} ${quoted(hosts)}`,
  };
};

export const privileges: PodCheck = ({ containers }) => {
  const bad = containers.filter((one) => contextOf(one).privileged === true);
  const detail = `${named('container', bad)} must not set securityContext.privileged=true`;
  return bad.length === 0 ? undefined : { reason: 'privileged', detail };
};

export const procMount: PodCheck = ({ containers }) => {
  const bad = containers.filter((one) => (contextOf(one).procMount ?? 'Default') !== 'Default');
  if (bad.length === 0) return undefined;
  const values = quoted(inOrder(bad.map((one) => contextOf(one).procMount)));
  return {
    reason: 'procMount',
    detail: `${named('container', bad)} must not set securityContext.procMount to ${values}`,
  };
};

export const seLinux =
  (...types: readonly string[]): PodCheck =>
  (pod) => {
    const optionsOf = (context: Mapping): Mapping => maybeMapping(context, 'seLinuxOptions') ?? {};
    const hasBadType = ({ type = '' }: Mapping): boolean => type !== '' && !types.includes(String(type));
    const isSet = (key: string) => (options: Mapping) => (options[key] ?? '') !== '';
    const bad = [hasBadType, isSet('user'), isSet('role')];
    const sayers = sayersOf(pod, (context) => bad.some((is) => is(optionsOf(context))));
    if (sayers === '') return undefined;
    const all = contextsOf(pod).map(optionsOf);
    const badTypes = inOrder(all.filter(hasBadType).map(({ type }) => type));
    const data = [
      ...(badTypes.length === 0 ? [] : [`${counted('type', badTypes)} ${quoted(badTypes)}`]),
      ...['user', 'role'].filter((key) => all.some(isSet(key))).map((key) => `${key} may not be set`),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${sayers} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  };

const SECCOMP = 'seccomp.security.alpha.kubernetes.io';

/** Before there was a field for it. */
export const annotatedSeccomp: PodCheck = ({ annotations, containers }) => {
  const keys = [`${SECCOMP}/pod`, ...containers.map(({ name }) => `container.${SECCOMP}/${String(name)}`)];
  const bad = keys
    .filter((key) => annotations[key] !== undefined)
    .filter((key) => !/^(runtime\/default$|docker\/default$|localhost\/)/.test(String(annotations[key])))
    .map((key) => `${key}=${goQuote(String(annotations[key]))}`);
  if (bad.length === 0) return undefined;
  const told = inOrder(bad);
  return { reason: 'seccompProfile', detail: `forbidden ${counted('annotation', told)} ${told.join(', ')}` };
};

export const seccomp: PodCheck = (pod) => {
  const profileOf = (context: Mapping): Mapping | undefined => maybeMapping(context, 'seccompProfile');
  const isBad = (context: Mapping): boolean => isForbiddenProfile(profileOf(context));
  const sayers = sayersOf(pod, isBad);
  if (sayers === '') return undefined;
  const types = inOrder(
    contextsOf(pod)
      .filter(isBad)
      .map((context) => profileOf(context)?.type),
  );
  return {
    reason: 'seccompProfile',
    detail: `${sayers} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  };
};

export const requiredSeccomp: PodCheck = (pod) => {
  const said = seccomp(pod);
  if (said !== undefined) return said;
  const silent = silentOf(pod, 'seccompProfile', () => true);
  if (silent.length === 0) return undefined;
  const wanted = 'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: 'seccompProfile', detail: `pod or ${named('container', silent)} must set ${wanted}` };
};

export const sysctls =
  (...allowed: readonly string[]): PodCheck =>
  ({ spec }) => {
    const names = itemsOf(contextOf(spec), 'sysctls').map(({ name }) => String(name));
    const bad = names.filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };

export const hostProcess: PodCheck = (pod) => {
  const sayers = sayersOf(pod, (context) => maybeMapping(context, 'windowsOptions')?.hostProcess === true);
  const detail = `${sayers} must not set securityContext.windowsOptions.hostProcess=true`;
  return sayers === '' ? undefined : { reason: 'hostProcess', detail };
};

export const escalation: PodCheck = ({ containers }) => {
  const bad = containers.filter((one) => contextOf(one).allowPrivilegeEscalation !== false);
  const detail = `${named('container', bad)} must set securityContext.allowPrivilegeEscalation=false`;
  return bad.length === 0 ? undefined : { reason: 'allowPrivilegeEscalation != false', detail };
};

const USUAL_VOLUMES: ReadonlySet<string> = new Set([
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image'],
  ...['persistentVolumeClaim', 'projected', 'secret'],
]);

export const usualVolumes: PodCheck = ({ spec }) => {
  const sourceOf = (volume: Mapping): string => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
  const bad = itemsOf(spec, 'volumes').filter((volume) => !Object.keys(volume).some((key) => USUAL_VOLUMES.has(key)));
  if (bad.length === 0) return undefined;
  const types = inOrder(bad.map(sourceOf));
  const title = counted('restricted volume type', types);
  return {
    reason: 'restricted volume types',
    detail: `${named('volume', bad)} ${uses(bad)} ${title} ${quoted(types)}`,
  };
};

export const runAsNonRoot: PodCheck = (pod) => {
  const reason = 'runAsNonRoot != true';
  const sayers = sayersOf(pod, (context) => context.runAsNonRoot === false);
  if (sayers !== '') return { reason, detail: `${sayers} must not set securityContext.runAsNonRoot=false` };
  const silent = silentOf(pod, 'runAsNonRoot', (value) => value === true);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${named('container', silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsRoot: PodCheck = (pod) => {
  const sayers = sayersOf(pod, (context) => context.runAsUser === 0);
  return sayers === '' ? undefined : { reason: 'runAsUser=0', detail: `${sayers} must not set runAsUser=0` };
};
