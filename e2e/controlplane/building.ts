import { fileURLToPath } from 'node:url';
import { type BuildOptions, builtByGo, type Recipe } from './go-builds.js';

/** The Kubernetes that the tests are about; `build/kubernetes/go.mod` requires the same. */
const kubernetesVersion = '1.36.4';

const takes = 'the four binaries take 8 to 20 minutes on two cores';

/** Each recipe is a folder with a go.mod of its own: the two projects disagree about their dependencies. */
const recipes: readonly Recipe[] = [
  {
    folder: sourceFolder('kubernetes'),
    cache: 'controlplane',
    commands: {
      'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
      'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
      kubectl: 'k8s.io/kubernetes/cmd/kubectl',
    },
    ldflags: kubernetesLdflags(),
    takes,
  },
  {
    folder: sourceFolder('etcd'),
    cache: 'controlplane',
    commands: { etcd: 'go.etcd.io/etcd/server/v3' },
    ldflags: '-s -w',
    takes,
  },
];

/** Without these, the binaries call themselves `v0.0.0-master`, and the API server tells the same to its clients. */
function kubernetesLdflags(): string {
  const [major, minor] = kubernetesVersion.split('.');
  const stamped = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((home) => [
    `-X ${home}.gitVersion=v${kubernetesVersion}`,
    `-X ${home}.gitMajor=${major}`,
    `-X ${home}.gitMinor=${minor}`,
  ]);
  return ['-s', '-w', ...stamped].join(' ');
}

/** The path of a binary of the control plane in the user's cache; built first if it is not there yet. */
export async function builtBinary(command: string, options: BuildOptions): Promise<string> {
  const recipe = recipes.find(({ commands }) => Object.hasOwn(commands, command));
  if (recipe === undefined) throw new Error(`There is no recipe for building ${command}.`);
  return builtByGo(recipe, command, options);
}

function sourceFolder(name: string): string {
  return fileURLToPath(new URL(`build/${name}`, import.meta.url));
}
