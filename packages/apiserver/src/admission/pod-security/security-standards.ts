/** The pod security standards: which checks belong to which level, and since when. */
import type { Mapping } from '@kopf-ts/core';
import { itemsOf, maybeMapping } from '../../kinds/defaults/setting.js';
import type { CheckedPod, PodCheck, Violation } from './security-checks.js';
import * as checks from './security-checks.js';
import type { Level, Standard } from './security-policy.js';

interface Row {
  readonly level: Exclude<Level, 'privileged'>;
  /** The minor versions in which it holds: from the first one until, but not including, the last one. */
  readonly from: number;
  readonly until?: number;
  /** Since then, the restricted level has a stricter one instead. */
  readonly replacedFrom?: number;
  readonly check: PodCheck;
}

const seLinuxTypes = ['container_t', 'container_init_t', 'container_kvm_t'];
const sysctlsOfOld = [
  ...['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies'],
  ...['net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'],
];
const sysctlsOf27 = [...sysctlsOfOld, 'net.ipv4.ip_local_reserved_ports'];
const sysctlsOf29 = [
  ...sysctlsOf27,
  ...['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout'],
  ...['net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes'],
];
const sysctlsOf32 = [...sysctlsOf29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

/** In the order in which violations are told. */
const rows: readonly Row[] = [
  { level: 'baseline', from: 0, check: checks.appArmor },
  { level: 'baseline', from: 0, replacedFrom: 22, check: checks.usualCapabilities },
  { level: 'baseline', from: 0, check: checks.hostNamespaces },
  { level: 'baseline', from: 0, replacedFrom: 0, check: checks.hostPaths },
  { level: 'baseline', from: 0, check: checks.hostPorts },
  { level: 'baseline', from: 34, check: checks.hostsOfProbes },
  { level: 'baseline', from: 0, check: checks.privileges },
  { level: 'baseline', from: 0, until: 35, check: checks.procMount },
  { level: 'baseline', from: 35, replacedFrom: 35, check: checks.onHostOnly(checks.procMount) },
  { level: 'baseline', from: 0, until: 31, check: checks.seLinux(...seLinuxTypes) },
  { level: 'baseline', from: 31, check: checks.seLinux(...seLinuxTypes, 'container_engine_t') },
  { level: 'baseline', from: 0, until: 19, check: checks.annotatedSeccomp },
  { level: 'baseline', from: 19, replacedFrom: 19, check: checks.seccomp },
  { level: 'baseline', from: 0, until: 27, check: checks.sysctls(...sysctlsOfOld) },
  { level: 'baseline', from: 27, until: 29, check: checks.sysctls(...sysctlsOf27) },
  { level: 'baseline', from: 29, until: 32, check: checks.sysctls(...sysctlsOf29) },
  { level: 'baseline', from: 32, check: checks.sysctls(...sysctlsOf32) },
  { level: 'baseline', from: 0, check: checks.hostProcess },
  { level: 'restricted', from: 8, until: 25, check: checks.escalation },
  { level: 'restricted', from: 25, check: checks.exceptWindows(checks.escalation) },
  { level: 'restricted', from: 22, until: 25, check: checks.noCapabilities },
  { level: 'restricted', from: 25, check: checks.exceptWindows(checks.noCapabilities) },
  { level: 'restricted', from: 35, check: checks.procMount },
  { level: 'restricted', from: 0, check: checks.usualVolumes },
  { level: 'restricted', from: 0, until: 35, check: checks.runAsNonRoot },
  { level: 'restricted', from: 35, check: checks.onHostOnly(checks.runAsNonRoot) },
  { level: 'restricted', from: 23, until: 35, check: checks.runAsRoot },
  { level: 'restricted', from: 35, check: checks.onHostOnly(checks.runAsRoot) },
  { level: 'restricted', from: 19, until: 25, check: checks.requiredSeccomp },
  { level: 'restricted', from: 25, check: checks.exceptWindows(checks.requiredSeccomp) },
];

function holds({ level, from, until = Number.POSITIVE_INFINITY, replacedFrom }: Row, standard: Standard): boolean {
  const isInTime = from <= standard.minor && (standard.minor < until || until === Number.POSITIVE_INFINITY);
  if (!isInTime || level === standard.level) return isInTime;
  return standard.level === 'restricted' && (replacedFrom === undefined || standard.minor < replacedFrom);
}

/** All that is wrong with a pod, or with the template of one. */
export function violationsOf(standard: Standard, { metadata, spec }: Mapping): readonly Violation[] {
  if (standard.level === 'privileged') return [];
  const pod: CheckedPod = checkedPod(metadata as Mapping | undefined, (spec ?? {}) as Mapping);
  return rows
    .filter((row) => holds(row, standard))
    .map(({ check }) => check(pod))
    .filter((violation) => violation !== undefined);
}

function checkedPod(metadata: Mapping | undefined, spec: Mapping): CheckedPod {
  return {
    annotations: maybeMapping(metadata, 'annotations') ?? {},
    spec,
    containers: ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) => itemsOf(spec, key)),
  };
}
