import { fileURLToPath } from 'node:url';
import { onPath } from '../../controlplane/binaries.js';
import { builtByGo, type Recipe } from '../../controlplane/go-builds.js';
import type { Installed } from './installed.js';

/** `build/go.mod` requires the same. */
const versions = { helm3: 'v3.22.0', helm4: 'v4.3.1' };

/** One go.mod for all, so that what they share is compiled once. */
const recipe: Recipe = {
  folder: fileURLToPath(new URL('../build', import.meta.url)),
  cache: 'programs',
  commands: {
    helm3: 'helm.sh/helm/v3/cmd/helm',
    helm4: 'helm.sh/helm/v4/cmd/helm',
    'site-operator': './operator',
    reconciler: './reconciler',
  },
  ldflags: [
    '-s',
    '-w',
    `-X helm.sh/helm/v3/internal/version.version=${versions.helm3}`,
    `-X helm.sh/helm/v4/internal/version.version=${versions.helm4}`,
  ].join(' '),
  takes: 'the four programs take 5 to 15 minutes on two cores',
};

/** The path of a program in the cache, built there once; a build that fails is an error, no `go` is a reason to skip. */
export async function goProgram(
  command: 'helm3' | 'helm4' | 'site-operator' | 'reconciler',
): Promise<Installed<string>> {
  const go = onPath('go', process.env);
  if (go === undefined) return { kind: 'unavailable', reason: `there is no 'go' to build ${command} with` };
  const say = (text: string) => console.log(`programs: ${text}`);
  return { kind: 'installed', it: await builtByGo(recipe, command, { go, env: process.env, say }) };
}
