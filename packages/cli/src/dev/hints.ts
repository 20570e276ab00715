/** What people need to know of a cluster that runs: where it is, what is in it, how to reach it. */
import { resolveField } from '@kopf-ts/core';
import type { Terminal } from '../runtime.js';
import type { Manifest } from './manifests.js';

export interface HintParts {
  readonly url: string;
  readonly kubeconfig: string;
  /** Where the console is, if there is one. */
  readonly console: string | undefined;
  /** Who the operator is, if it is not the administrator. */
  readonly username: string | undefined;
  /** Where the data are kept, if they are. */
  readonly data: string | undefined;
  /** The port that the folder has on other days, if it is taken. */
  readonly takenPort: number | undefined;
  /** Files as they are shown. */
  readonly files: readonly string[];
  readonly objects: readonly Manifest[];
}

export function hintsOf(parts: HintParts, { style }: Terminal): string {
  const { url, kubeconfig, console, username, data, takenPort, files } = parts;
  const command = (text: string): string => `  ${style('cyan', text)}`;
  const where = style('bold', url);
  return [
    '',
    data === undefined
      ? `The cluster is at ${where}, in memory; it disappears when this command ends (Ctrl-C).`
      : `The cluster is at ${where}; its data are kept in ${data}.`,
    ...(takenPort === undefined
      ? []
      : [`Port ${takenPort}, which it usually has in this folder, is in use: by another kopf dev?`]),
    files.length === 0 ? 'Nothing has been applied to it.' : `Applied to it: ${files.join(', ')}.`,
    ...(username === undefined ? [] : [`The operator is ${username}: it may do only what roles allow.`]),
    ...(console === undefined ? [] : [`See in a browser what the operator does: ${style('bold', console)}`]),
    '',
    'To use it in another terminal:',
    '',
    command(`export KUBECONFIG=${kubeconfig}`),
    command(getCommand(parts.objects)),
    ...(username === undefined ? [] : [command(`kubectl auth can-i --list --as=${username}`)]),
    '',
    '',
  ].join('\n');
}

function getCommand(objects: readonly Manifest[]): string {
  const plurals = objects.flatMap(({ object }) => {
    const plural = object.kind === 'CustomResourceDefinition' && resolveField(object, ['spec', 'names', 'plural']);
    return typeof plural === 'string' ? [plural] : [];
  });
  return plurals.length === 0 ? 'kubectl api-resources' : `kubectl get ${plurals.join(',')} --all-namespaces`;
}
