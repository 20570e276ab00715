import type { Binaries, Binary } from './binaries.js';
import type { Program } from './processes.js';
import { isAtLeast, parseVersion } from './versions.js';

/** Where everything of one control plane is. */
export interface Layout {
  readonly folder: string;
  readonly logs: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly apiServerPort: number;
  readonly controllerManagerPort: number;
}

/** What can be different from one control plane to another. */
export interface ComponentOptions {
  readonly controllerManager: boolean;
  /** Which of the controllers; by default, all that operators may rely on. */
  readonly controllers?: readonly string[];
  readonly auditLog: boolean;
  readonly extraArgs: ExtraArgs;
}

/** Added after ours: of two equal flags, the last one wins. */
export interface ExtraArgs {
  readonly etcd?: readonly string[];
  readonly apiServer?: readonly string[];
  readonly controllerManager?: readonly string[];
}

export const certificateFile = (layout: Layout, name: string) => `${layout.folder}/pki/${name}.crt`;
export const keyFile = (layout: Layout, name: string) => `${layout.folder}/pki/${name}.key`;
export const auditLogFile = (layout: Layout) => `${layout.logs}/audit.log`;
export const etcdUrl = (layout: Layout) => `http://127.0.0.1:${layout.etcdPort}`;

export function etcdProgram(binaries: Binaries, layout: Layout, { extraArgs }: ComponentOptions): Program {
  const peers = `http://127.0.0.1:${layout.etcdPeerPort}`;
  return {
    name: 'etcd',
    command: binaries.etcd.path,
    logFile: `${layout.logs}/etcd.log`,
    args: [
      `--data-dir=${layout.folder}/etcd`,
      `--listen-client-urls=${etcdUrl(layout)}`,
      `--advertise-client-urls=${etcdUrl(layout)}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
      // The data does not have to survive a power cut.
      '--unsafe-no-fsync',
      `${progressFlag(binaries.etcd)}=5s`,
      '--log-level=warn',
      ...(extraArgs.etcd ?? []),
    ],
  };
}

/**
 * As in usual clusters: kubeadm and the big providers all set it. By default, etcd tells only every 10 minutes how far it
 * is, and then the API server sends no bookmarks of quiet kinds, as its cache of them is behind what it has listed.
 */
function progressFlag({ version }: Binary): string {
  const parsed = parseVersion(version);
  const isStable = parsed !== undefined && isAtLeast(parsed, '3.6');
  return isStable ? '--watch-progress-notify-interval' : '--experimental-watch-progress-notify-interval';
}

export function apiServerProgram(binaries: Binaries, layout: Layout, options: ComponentOptions): Program {
  return {
    name: 'kube-apiserver',
    command: binaries.apiServer.path,
    logFile: `${layout.logs}/kube-apiserver.log`,
    args: [
      `--etcd-servers=${etcdUrl(layout)}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${layout.apiServerPort}`,
      // No endpoints for `kubernetes.default`: they may not be on the loopback, and there is nobody to use them.
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--tls-cert-file=${certificateFile(layout, 'server')}`,
      `--tls-private-key-file=${keyFile(layout, 'server')}`,
      `--client-ca-file=${certificateFile(layout, 'ca')}`,
      `--token-auth-file=${layout.folder}/tokens.csv`,
      '--anonymous-auth=false',
      '--authorization-mode=RBAC',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${keyFile(layout, 'service-accounts')}`,
      `--service-account-signing-key-file=${keyFile(layout, 'service-accounts')}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      // Pods need the `default` account, and it is the controller manager who makes it.
      ...(options.controllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
      ...(options.auditLog ? auditArgs(layout) : []),
      ...(options.extraArgs.apiServer ?? []),
    ],
  };
}

/** Each request once, when it is answered or, for watches, also when it has begun. */
export const auditPolicy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'RequestResponse' }],
});

function auditArgs(layout: Layout): string[] {
  return [
    `--audit-policy-file=${layout.folder}/audit-policy.json`,
    `--audit-log-path=${auditLogFile(layout)}`,
    '--audit-log-mode=blocking',
  ];
}

/** What operators may rely on; nothing that needs nodes, clouds or volumes. */
const usualControllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
];

export function controllerManagerProgram(
  binary: Binary,
  layout: Layout,
  { controllers = usualControllers, extraArgs }: ComponentOptions,
): Program {
  return {
    name: 'kube-controller-manager',
    command: binary.path,
    logFile: `${layout.logs}/kube-controller-manager.log`,
    args: [
      `--kubeconfig=${layout.folder}/controller-manager.kubeconfig`,
      `--controllers=${controllers.join(',')}`,
      '--use-service-account-credentials',
      `--service-account-private-key-file=${keyFile(layout, 'service-accounts')}`,
      `--root-ca-file=${certificateFile(layout, 'ca')}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${layout.controllerManagerPort}`,
      `--tls-cert-file=${certificateFile(layout, 'server')}`,
      `--tls-private-key-file=${keyFile(layout, 'server')}`,
      // The defaults spare the API servers of big clusters.
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      ...(extraArgs.controllerManager ?? []),
    ],
  };
}
