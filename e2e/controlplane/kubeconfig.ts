export interface KubeconfigUser {
  readonly token?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-key'?: string;
}

/**
 * A kubeconfig with one cluster and a context for each user, named like the user; the first is the current one.
 *
 * It is JSON, which every reader of YAML understands.
 */
export function kubeconfig(server: string, caFile: string, users: Readonly<Record<string, KubeconfigUser>>): string {
  const names = Object.keys(users);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'controlplane', cluster: { server, 'certificate-authority': caFile } }],
    users: names.map((name) => ({ name, user: users[name] })),
    contexts: names.map((name) => ({ name, context: { cluster: 'controlplane', user: name, namespace: 'default' } })),
    'current-context': names[0],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
