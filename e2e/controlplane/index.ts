/**
 * A real Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager as local processes.
 * It finds or builds the binaries, starts them and always stops them; there are no nodes, so nothing runs in pods.
 */
export { type Binaries, type BinariesFound, describeBinaries, findBinaries } from './binaries.js';
export {
  type ControlPlane,
  type ControlPlaneAccess,
  type ControlPlaneOptions,
  runKubectl,
  startControlPlane,
} from './control-plane.js';
