/** Starts a control plane, tells where it is, and waits to be killed. */
import { startControlPlane } from '../index.js';

startControlPlane({ controllerManager: process.argv[2] === 'with-controller-manager' }).then(
  ({ url, kubeconfig }) => {
    console.log(JSON.stringify({ url, kubeconfig }));
    setInterval(() => {}, 1000);
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
