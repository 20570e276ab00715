import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';

const robot = 'system:serviceaccount:people:robot';
const viewer = 'get,list,watch';

/** In this order, on both clusters; those that prepare something are repeated until the others notice it. */
const commands = [
  'create namespace people',
  'create serviceaccount robot -n people',
  'auth whoami --as joe',
  'auth whoami --as joe --as-group devs --as-group ops --as-uid 7',
  `auth whoami --as ${robot} -o json`,
  'auth can-i list pods',
  'auth can-i list pods --as joe',
  'auth can-i get /healthz --as joe',
  'auth can-i get /metrics --as joe',
  'auth can-i --list --as joe -n people',
  'get pods -n people --as joe',
  'get pods -A --as joe',
  'create configmap one -n people --as joe',
  `create role few --verb=${viewer} --resource=configmaps,pods -n people`,
  'create rolebinding few --role=few --serviceaccount=people:robot --user=joe --group=devs -n people',
  `auth can-i list configmaps --as ${robot} -n people`,
  `auth can-i list secrets --as ${robot} -n people`,
  `auth can-i list configmaps --as ${robot} -n default`,
  'auth can-i list pods --as somebody --as-group devs -n people',
  'auth can-i get pods/log --as joe -n people',
  'auth can-i --list --as joe -n people',
  'describe role few -n people',
  'describe rolebinding few -n people',
  `delete configmaps --all -n people --as ${robot}`,
  `create role more --verb=* --resource=secrets -n people --as ${robot}`,
  'create token robot -n people',
  'create token robot -n people --duration=1m',
  'create token robot -n people --audience=vault --duration=1h',
  'create token nobody -n people',
  'create token robot -n people --bound-object-kind=Secret --bound-object-name=nothing',
  'get serviceaccounts -n people',
  'get configmaps -n people -o name',
  'get service kubernetes -n default -o name',
  'get --raw /healthz --as joe',
  'get --raw /api --as system:anonymous',
  'delete rolebinding few -n people',
  'get pods -n people --as joe',
  'delete serviceaccount robot -n people',
];

describeOnRealCluster('kubectl on the embedded cluster and on the real one', () => {
  let cluster: LocalCluster;
  beforeAll(async () => {
    cluster = await localCluster({ tls: true, authorize: 'rbac' });
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const outcomeOf = (kubeconfig: string, command: string): Promise<string> =>
    new Promise((resolve) => {
      const args = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(dirname(kubeconfig), 'kubectl-cache')}`];
      execFile(realCluster().kubectlPath, [...args, ...command.split(' ')], (error, stdout, stderr) => {
        resolve(masked(`${stdout}${stderr}[${error?.code ?? 0}]`));
      });
    });

  /** The real one notices roles a moment later; so what is not yet as here is asked again for a while. */
  async function outcomeOnReal(command: string, expected: string): Promise<string> {
    const deadline = performance.now() + 5_000;
    for (;;) {
      const outcome = await outcomeOf(realCluster().kubeconfig, command);
      const isChange = /^(create|delete)/.test(command);
      if (outcome === expected || isChange || performance.now() > deadline) return outcome;
    }
  }

  it('tells the same of users, roles and tokens', async () => {
    const embedded: string[] = [];
    const real: string[] = [];
    for (const command of commands) {
      const outcome = await outcomeOf(await cluster.kubeconfigFile(), command);
      embedded.push(`${command}\n${outcome}`);
      real.push(`${command}\n${await outcomeOnReal(command, outcome)}`);
    }
    expect(embedded).toEqual(real);
    await outcomeOf(realCluster().kubeconfig, 'delete namespace people --wait=false');
  }, 300_000);
});

/** Uids, times, ages, addresses and signatures are of each cluster. */
function masked(text: string): string {
  return text
    .replace(/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, '<token>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uid>')
    .replace(/https:\/\/127\.0\.0\.1:\d+/g, '<server>')
    .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '<time>')
    .replace(/ +\d+[smh]\n/g, ' <age>\n');
}
