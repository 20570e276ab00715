/** The only node: it is there, and it is ready. */
import { type Condition, findCondition } from './conditions.js';
import { type Decision, NOTHING, type SimulatedController } from './decisions.js';
import { create, replace, replaceStatus } from './writes.js';

export const NODES = 'nodes';
export const NODE = 'local';
export const NODE_ADDRESS = '10.0.0.1';

const NOT_READY = 'node.kubernetes.io/not-ready';
const RESOURCES = { cpu: '8', memory: '32Gi', pods: '1000', 'ephemeral-storage': '100Gi' };
const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: NODE,
    labels: {
      'beta.kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': NODE,
      'kubernetes.io/os': 'linux',
    },
  },
  spec: { podCIDR: '10.244.0.0/16', podCIDRs: ['10.244.0.0/16'] },
};

/** It comes back when it is deleted; what others change in it stays. */
export const nodeController: SimulatedController = {
  name: 'node',
  username: `system:node:${NODE}`,
  program: 'kubelet',
  component: 'kubelet',
  collection: NODES,
  decide(object, { timestamp }, { place }): Decision {
    if (place.name !== NODE) return NOTHING;
    if (object === undefined) return { writes: [create(NODES, node)] };
    const isReady = findCondition<Condition>(object.status?.conditions, 'Ready')?.status === 'True';
    if (!isReady) return { writes: [replaceStatus(NODES, object, { ...object.status, ...statusAt(timestamp) })] };
    const taints: readonly { key: string }[] = object.spec?.taints ?? [];
    const others = taints.filter(({ key }) => key !== NOT_READY);
    if (others.length === taints.length) return NOTHING;
    const { taints: _taints, ...spec } = object.spec;
    return { writes: [replace(NODES, { ...object, spec: others.length === 0 ? spec : { ...spec, taints: others } })] };
  },
};

function statusAt(now: string): object {
  return {
    capacity: RESOURCES,
    allocatable: RESOURCES,
    conditions: CONDITIONS.map(([type, status, reason, message]) => ({
      type,
      status,
      lastHeartbeatTime: now,
      lastTransitionTime: now,
      reason,
      message,
    })),
    addresses: [
      { type: 'InternalIP', address: NODE_ADDRESS },
      { type: 'Hostname', address: NODE },
    ],
    nodeInfo: {
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: '',
      osImage: 'none: simulated by kopf-ts',
      containerRuntimeVersion: 'simulated://1',
      kubeletVersion: 'v1.36.0+kopf-ts',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}
