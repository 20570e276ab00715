import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type LocalCluster, localCluster } from '@kopf-ts/apiserver';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runKubectl } from '../controlplane/index.js';
import { describeOnRealCluster, realCluster } from '../support/real-cluster.js';
import { becomesTrue } from '../support/waiting.js';

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: examples.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: examples, singular: example, kind: Example, shortNames: [ex] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      additionalPrinterColumns: [{ name: Colour, type: string, jsonPath: .spec.colour }]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { colour: { type: string }, size: { type: integer, default: 1 } } }
            status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;
const example = (name: string, colour: string) => `
apiVersion: example.com/v1
kind: Example
metadata: { name: ${name} }
spec: { colour: ${colour} }
`;
const configMap = (name: string) => `
apiVersion: v1
kind: ConfigMap
metadata: { name: ${name}, labels: { app: demo } }
data: { key: value }
`;

const deployment = (replicas: number, image: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: applied }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: demo } }
  template:
    metadata: { labels: { app: demo } }
    spec: { containers: [{ name: main, image: ${image} }] }
`;

/** Of the real thing, only the program is needed here; the cluster is the embedded one. */
describeOnRealCluster('kubectl on the embedded cluster', () => {
  let cluster: LocalCluster;
  let kubeconfig: string;

  beforeAll(async () => {
    // By TLS: kubectl sends no tokens over plain HTTP.
    cluster = await localCluster({ tls: true });
    kubeconfig = await cluster.kubeconfigFile();
    await kubectl('apply -f -', definition);
    await kubectl('wait --for=condition=Established crd/examples.example.com --timeout=20s');
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const kubectl = (args: string | readonly string[], stdin?: string): Promise<string> =>
    runKubectl(
      { ...realCluster(), kubeconfig },
      typeof args === 'string' ? args.split(' ') : args,
      stdin === undefined ? {} : { stdin },
    );

  it('tells the versions', async () => {
    expect(await kubectl('version')).toMatch(/^Server Version: v1\.36\.\d+\+kopf-ts$/m);
    expect(await kubectl('get --raw /readyz')).toBe('ok');
  });

  it('tells what is served, the custom kinds included', async () => {
    const served = await kubectl('api-resources --no-headers');
    expect(served).toMatch(/^configmaps +cm +v1 +true +ConfigMap$/m);
    expect(served).toMatch(/^examples +ex +example\.com\/v1 +true +Example$/m);
    expect(await kubectl('api-versions')).toMatch(/^example\.com\/v1$/m);
  });

  it('creates, gets, describes and deletes objects of built-in kinds', async () => {
    expect(await kubectl('create -f -', configMap('plain'))).toBe('configmap/plain created\n');
    expect(await kubectl('get cm -l app=demo -o name')).toBe('configmap/plain\n');
    expect(await kubectl('get cm plain -o jsonpath={.data.key}')).toBe('value');
    expect(await kubectl('describe cm plain')).toMatch(/^Labels: +app=demo$/m);
    expect(await kubectl('label cm plain more=1')).toBe('configmap/plain labeled\n');
    expect(cluster.get('configmaps/default/plain')?.metadata?.labels).toEqual({ app: 'demo', more: '1' });
    expect(await kubectl(['patch', 'cm', 'plain', '--type=merge', '-p', '{"data":{"key":"other"}}'])).toMatch(
      /patched/,
    );
    expect(await kubectl('replace -f -', configMap('plain'))).toBe('configmap/plain replaced\n');
    expect(cluster.get('configmaps/default/plain')?.data).toEqual({ key: 'value' });
    expect(await kubectl('delete cm plain')).toMatch(/^configmap "plain" deleted/);
    expect(cluster.get('configmaps/default/plain')).toBeUndefined();
    await expect(kubectl('get cm plain')).rejects.toThrow('Error from server (NotFound): configmaps "plain" not found');
  });

  it('makes objects of its own, which it sends in protobuf', async () => {
    expect(await kubectl('create namespace made')).toBe('namespace/made created\n');
    expect(await kubectl('create configmap made --from-literal=a=b')).toBe('configmap/made created\n');
    expect(cluster.get('configmaps/default/made')?.data).toEqual({ a: 'b' });
    expect(await kubectl('create deployment made --image=example.com/image')).toBe('deployment.apps/made created\n');
    expect(await kubectl('auth can-i get pods')).toBe('yes\n');
  });

  it('applies custom objects, and applies them again', async () => {
    expect(await kubectl('apply -f -', example('one', 'red'))).toBe('example.example.com/one created\n');
    expect(await kubectl('apply -f -', example('one', 'red'))).toBe('example.example.com/one unchanged\n');
    expect(await kubectl('apply -f -', example('one', 'blue'))).toBe('example.example.com/one configured\n');
    expect(cluster.get('examples/default/one')?.spec).toEqual({ colour: 'blue', size: 1 });
    expect(await kubectl('describe ex one')).toMatch(/^ {2}Colour: +blue$/m);
    expect(
      await kubectl(['patch', 'ex', 'one', '--subresource=status', '--type=merge', '-p', '{"status":{"ok":true}}']),
    ).toBe('example.example.com/one patched\n');
    expect(cluster.get('examples/default/one')?.status).toEqual({ ok: true });
    expect(await kubectl('delete ex --all')).toMatch(/"one" deleted/);
  });

  it('applies definitions again, changed or not', async () => {
    expect(await kubectl('apply -f -', definition)).toMatch(/examples\.example\.com unchanged$/m);
    expect(await kubectl('apply -f -', definition.replace('[ex]', '[ex, exs]'))).toMatch(/ configured$/m);
    expect(await becomesTrue(async () => (await kubectl('api-resources --no-headers')).includes('ex,exs'))).toBe(true);
  });

  it('applies objects of built-in kinds, and applies them again: lists are merged', async () => {
    expect(await kubectl('apply -f -', configMap('applied'))).toBe('configmap/applied created\n');
    expect(await kubectl('apply -f -', configMap('applied'))).toBe('configmap/applied unchanged\n');
    const changed = configMap('applied').replace('key: value', 'other: value');
    expect(await kubectl('apply -f -', changed)).toBe('configmap/applied configured\n');
    expect(cluster.get('configmaps/default/applied')?.data).toEqual({ other: 'value' });

    expect(await kubectl('apply -f -', deployment(1, 'one'))).toBe('deployment.apps/applied created\n');
    expect(await kubectl('apply -f -', deployment(2, 'one'))).toBe('deployment.apps/applied configured\n');
    expect(cluster.get('deployments.apps/default/applied')?.spec).toMatchObject({ replicas: 2 });
    expect(await kubectl('apply -f -', deployment(2, 'two'))).toBe('deployment.apps/applied configured\n');
    expect(await kubectl('set image deployment/applied main=three')).toBe('deployment.apps/applied image updated\n');
    expect(await kubectl('set env deployment/applied A=1 B=2')).toBe('deployment.apps/applied env updated\n');
    expect(await kubectl('set env deployment/applied A-')).toBe('deployment.apps/applied env updated\n');
    expect(await kubectl('scale deployment/applied --replicas=4')).toBe('deployment.apps/applied scaled\n');
    expect(cluster.get('deployments.apps/default/applied')?.spec).toMatchObject({
      replicas: 4,
      template: { spec: { containers: [{ name: 'main', image: 'three', env: [{ name: 'B', value: '2' }] }] } },
    });
  });

  it('applies lists of objects', async () => {
    const list = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `listed-${name}` } })),
    });
    expect(await kubectl('apply -f -', list)).toBe('configmap/listed-a created\nconfigmap/listed-b created\n');
    expect(await kubectl('apply -f -', list)).toBe('configmap/listed-a unchanged\nconfigmap/listed-b unchanged\n');
  });

  it('tells that a kind is unknown as long as nobody has defined it', async () => {
    const unknown = example('one', 'red').replace('example.com/v1', 'unknown.example.com/v1');
    await expect(kubectl('apply -f -', unknown)).rejects.toThrow(
      'no matches for kind "Example" in version "unknown.example.com/v1"\nensure CRDs are installed first',
    );
  });

  it('explains fields of custom kinds', async () => {
    expect(await kubectl('explain examples.spec')).toMatch(/^ {2}colour\t<string>$/m);
    expect(await kubectl('explain examples --recursive')).toMatch(/^ {4}colour\t<string>$/m);
  });

  it.each([
    'explain pods',
    'explain pods.spec.containers',
    'explain deployments --recursive',
    'explain services.spec.ports.protocol',
    'explain pods.spec.containers.resources.limits',
    'explain configmaps.metadata.ownerReferences --recursive',
    'explain deployments.spec.strategy --output=plaintext-openapiv2',
    'explain networkpolicies.spec.ingress.from',
  ])('explains built-in kinds as the real one: %s', async (command) => {
    expect(await kubectl(command)).toBe(await runKubectl(realCluster(), command.split(' ')));
  });

  it('is refused fields that nobody knows, of custom and built-in kinds', async () => {
    const wrong = example('wrong', 'red').replace('colour:', 'color:');
    await expect(kubectl('apply -f -', wrong)).rejects.toThrow('strict decoding error: unknown field "spec.color"');
    await expect(kubectl('apply -f -', configMap('wrong').replace('\ndata:', '\ndate:'))).rejects.toThrow(
      'strict decoding error: unknown field "date"',
    );
    expect(await kubectl('apply --validate=ignore -f -', wrong)).toBe('example.example.com/wrong created\n');
    expect(await kubectl('delete ex wrong')).toMatch(/"wrong" deleted/);
  });

  it('is refused as by the real server', async () => {
    const wrong = example('wrong', 'red').replace('colour: red', 'size: big');
    await expect(kubectl('apply -f -', wrong)).rejects.toThrow(
      /The Example "wrong" is invalid: spec\.size: Invalid value: "string": spec\.size in body must be of type integer/,
    );
  });

  it('watches: tells of what comes, changes and goes', async () => {
    const args = `--kubeconfig=${kubeconfig} get ex --watch --no-headers --output-watch-events`.split(' ');
    const child = spawn(realCluster().kubectlPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const seen: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => seen.push(line.split(/\s+/, 2).join(' ')));
    // Until it is there, kubectl may be still on its way to the watching.
    await kubectl('apply -f -', example('watched', 'red'));
    expect(await becomesTrue(() => seen.length >= 1)).toBe(true);
    await kubectl('apply -f -', example('watched', 'blue'));
    await kubectl('delete ex watched');
    expect(await becomesTrue(() => seen.length >= 3)).toBe(true);
    expect(seen).toEqual(['ADDED', 'MODIFIED', 'DELETED'].map((type) => `${type} watched`));
  });

  it('deletes namespaces with all that is in them, and waits for it', async () => {
    await kubectl('create -f -', 'apiVersion: v1\nkind: Namespace\nmetadata: { name: temporary }\n');
    await kubectl('create -n temporary -f -', configMap('inside'));
    expect(await kubectl('delete ns temporary --timeout=20s')).toMatch(/^namespace "temporary" deleted/);
    expect(cluster.list('configmaps/temporary')).toEqual([]);
  });

  describe('with the kubeconfig', () => {
    it('that is gone when the cluster stops', async () => {
      const other = await localCluster({ tls: true });
      const file = await other.kubeconfigFile();
      await access(file);
      await other.stop();
      await expect(access(file)).rejects.toThrow('ENOENT');
    });
  });
});
