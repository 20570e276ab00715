import { describe, expect, it } from 'vitest';
import type { RunChoice } from '../../src/runtime.js';
import { kopf, type Outcome } from '../fakes.js';
import { DECLARE, folderWith, ownRegistry } from '../handlers-folder.js';

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  ownRegistry();
  const cwd = await folderWith({ 'handlers.mjs': DECLARE });
  return await kopf(['run', 'handlers.mjs', ...args], { env, cwd });
}

async function choice(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunChoice> {
  const { runs, err } = await run(args, env);
  expect(runs, err).toHaveLength(1);
  return runs[0] as RunChoice;
}

const NOTHING = { clusterwide: false, namespaces: [] };

describe('an option of `run`', () => {
  it.each<[string, Partial<RunChoice>]>([
    ['-A', { clusterwide: true }],
    ['--all-namespaces', { clusterwide: true }],
    ['-n ns1', { namespaces: ['ns1'] }],
    ['--namespace=ns1 -n ns2 -n ns[12]', { namespaces: ['ns1', 'ns2', 'ns[12]'] }],
    ['--standalone', { standalone: true }],
    ['--dev', { priority: 666 }],
    ['--dev -p 5', { priority: 666 }],
    ['-p 5', { priority: 5 }],
    ['--priority=-5', { priority: -5 }],
    ['-P somewhere', { peeringName: 'somewhere' }],
    ['--peering somewhere', { peeringName: 'somewhere' }],
    ['--optimize=speed', { optimize: 'speed' }],
    ['--optimize memory', { optimize: 'memory' }],
    ['--lease=my-operator', { lease: 'my-operator' }],
    ['--lease=false', { lease: undefined }],
    ['--lease my-operator', { lease: 'my-operator' }],
    ['--kubeconfig=/etc/k8s/config', { kubeconfig: '/etc/k8s/config' }],
    ['--context staging', { context: 'staging' }],
    ['--kubeconfig a --context b', { kubeconfig: 'a', context: 'b' }],
    ['-L http://:8080/healthz', { liveness: 'http://:8080/healthz' }],
    ['--liveness=http://:8080/healthz', { liveness: 'http://:8080/healthz' }],
    ['--metrics=http://:8081/metrics', { metrics: 'http://:8081/metrics' }],
    ['--console=http://127.0.0.1:8082', { console: 'http://127.0.0.1:8082' }],
    ['--no-console', {}],
    ['--otel', { otel: { onObjects: false } }],
    ['--otel-objects', { otel: { onObjects: true } }],
    ['--otel --otel-objects', { otel: { onObjects: true } }],
  ])('is understood: %s', async (text, expected) => {
    expect(await choice(text.split(' '))).toEqual({ ...NOTHING, ...expected });
  });

  it.each([
    ['run', '-L foo', "'foo' does not look like http://[host][:port][/path]."],
    ['run', '--liveness=https://:8080/healthz', 'does not look like http://'],
    ['run', '--metrics=8081', "'8081' does not look like http://"],
    ['run', '--console=8082', "'8082' does not look like http://"],
    ['run', '--liveness=http://:99999/healthz', "'http://:99999/healthz' has an invalid port."],
    ['run', '--optimize=size', "'size'"],
    ['run', '--lease --standalone', 'choose either --lease or --standalone'],
    ['run', '--lease=a --peering=b', 'choose either --lease or --peering'],
    ['run', '--lease=a --priority=5', 'choose either --lease or --priority'],
    ['dev', '--lease=a --dev', 'choose either --lease or --dev'],
    ['run', '--lease handlers.ts', "'handlers.ts' after --lease is taken for the name of the lease"],
    ['run', '--lease ./handlers', 'write --lease=NAME, or name the files first'],
    ['run', '--lease=My_Operator', "'My_Operator' cannot be the name of a lease"],
    ['run', '--lease=', "'' cannot be the name of a lease"],
    ['run', '--lease', 'give the lease a name, as in --lease=my-operator'],
    ['run', '--contxt=x', '(Did you mean --context?)'],
    ['run', '--kubeconfg=x', '(Did you mean --kubeconfig?)'],
    ['run', '--leese', '(Did you mean --lease?)'],
    ['dev', '--context=x', "unknown option '--context=x'"],
    ['dev', '--port=99999', "'99999' is not a port."],
    ['dev', '--port=-1', "'-1' is not a port."],
    ['dev', '--port=http', "'http' is not a port."],
  ])('is refused before anything is loaded if it makes no sense: %s %s', async (command, text, message) => {
    const outcome = await kopf([command, 'absent.mjs', ...text.split(' ')]);
    expect(outcome).toMatchObject({ code: 2, err: expect.stringContaining(message), calls: [] });
  });

  it.each(['my-operator', '@acme/my-operator'])(
    'of the lease without a name means that of the package: %s',
    async (name) => {
      ownRegistry();
      const cwd = await folderWith({ 'handlers.mjs': DECLARE, 'package.json': JSON.stringify({ name }) });
      const { runs, err } = await kopf(['run', 'handlers.mjs', '--lease'], { cwd });
      expect(runs, err).toMatchObject([{ lease: 'my-operator' }]);
    },
  );

  it('means nothing when it is absent', async () => {
    expect(await choice([])).toEqual(NOTHING);
  });
});

describe('a variable of the environment', () => {
  it.each<[Readonly<Record<string, string>>, Partial<RunChoice>]>([
    [{ KOPF_RUN_LEASE: 'mine' }, { lease: 'mine' }],
    [
      { KOPF_RUN_KUBECONFIG: '/x', KOPF_RUN_CONTEXT: 'y' },
      { kubeconfig: '/x', context: 'y' },
    ],
    [{ KOPF_RUN_CLUSTERWIDE: 'yes' }, { clusterwide: true }],
    [{ KOPF_RUN_CLUSTERWIDE: 'no' }, {}],
    [{ KOPF_RUN_ALL_NAMESPACES: 'yes' }, {}],
    [{ KOPF_RUN_NAMESPACES: 'ns1  ns2' }, { namespaces: ['ns1', 'ns2'] }],
    [{ KOPF_RUN_NAMESPACE: 'ns1' }, { namespaces: ['ns1'] }],
    [{ KOPF_RUN_NAMESPACES: 'ns1 ns2', KOPF_RUN_NAMESPACE: 'ns3' }, { namespaces: ['ns1', 'ns2', 'ns3'] }],
    [{ KOPF_RUN_STANDALONE: '1' }, { standalone: true }],
    [{ KOPF_RUN_STANDALONE: '0' }, { standalone: false }],
    [{ KOPF_RUN_DEV: 'true' }, { priority: 666 }],
    [{ KOPF_RUN_PRIORITY: '5' }, { priority: 5 }],
    [{ KOPF_RUN_PEERING: 'somewhere' }, { peeringName: 'somewhere' }],
    [{ KOPF_RUN_LIVENESS_ENDPOINT: 'http://:80/' }, { liveness: 'http://:80/' }],
    [{ KOPF_RUN_OTEL: '1' }, { otel: { onObjects: false } }],
    [{ KOPF_RUN_OTEL: 'no', KOPF_RUN_OTEL_OBJECTS: 'no' }, {}],
    [{ KOPF_RUN_OTEL_OBJECTS: 'yes' }, { otel: { onObjects: true } }],
    [{ KOPF_RUN_METRICS_ENDPOINT: 'http://:80/metrics' }, { metrics: 'http://:80/metrics' }],
    [{ KOPF_RUN_CONSOLE_ENDPOINT: 'http://127.0.0.1:80' }, { console: 'http://127.0.0.1:80' }],
    [{ KOPF_RUN_CONSOLE_ENDPOINT: 'no' }, {}],
    [{ KOPF_RUN_PRIORITY: '', KOPF_RUN_CLUSTERWIDE: '', KOPF_RUN_NAMESPACES: '' }, {}],
  ])('is understood: %j', async (env, expected) => {
    expect(await choice([], env)).toEqual({ ...NOTHING, ...expected });
  });

  it('gives way to the option', async () => {
    expect(await choice(['-p', '1'], { KOPF_RUN_PRIORITY: '2' })).toMatchObject({ priority: 1 });
    expect(await choice(['-n', 'ns1'], { KOPF_RUN_NAMESPACES: 'ns2' })).toMatchObject({ namespaces: ['ns1'] });
  });

  it('of the times of one namespace is added even to the options', async () => {
    expect(await choice(['-n', 'ns1'], { KOPF_RUN_NAMESPACE: 'ns2' })).toMatchObject({ namespaces: ['ns1', 'ns2'] });
  });

  it.each([
    [{ KOPF_RUN_PRIORITY: 'high' }, "bad value in KOPF_RUN_PRIORITY: 'high' is not a whole number."],
    [
      { KOPF_RUN_LIVENESS_ENDPOINT: ':80' },
      "bad value in KOPF_RUN_LIVENESS_ENDPOINT: ':80' does not look like http://",
    ],
    [{ KOPF_RUN_DEV: 'perhaps' }, "bad value in KOPF_RUN_DEV: 'perhaps' is neither yes nor no."],
    [{ KOPF_RUN_LOG_FORMAT: 'xml' }, "bad value in KOPF_RUN_LOG_FORMAT: 'xml' is not one of full, plain, json."],
  ])('is refused if it makes no sense: %j', async (env, message) => {
    expect(await run([], env)).toMatchObject({ code: 2, err: expect.stringContaining(message), calls: [] });
  });
});

describe('scopes that exclude each other', () => {
  it.each<[readonly string[], Readonly<Record<string, string>>]>([
    [['-A', '-n', 'ns1'], {}],
    [['-A'], { KOPF_RUN_NAMESPACES: 'ns1' }],
    [['-A'], { KOPF_RUN_NAMESPACE: 'ns1' }],
    [['-n', 'ns1'], { KOPF_RUN_CLUSTERWIDE: 'y' }],
  ])('are refused: %j with %j', async (args, env) => {
    const { code, err, calls } = await run(args, env);
    expect(code).toBe(2);
    expect(err).toContain('choose either all namespaces (-A) or some of them (-n ns1), not both');
    expect(calls).toEqual([]);
  });
});

describe('an operator without handlers', () => {
  it('is refused at once if there is nothing to load them from', async () => {
    const { code, err, calls } = await kopf(['run', '-A']);
    expect(code).toBe(2);
    expect(err).toContain("no handlers given: name the files to load, as in 'kopf run handlers.ts'");
    expect(calls).toEqual([]);
  });

  it('is not run if none are declared in the files', async () => {
    ownRegistry();
    const cwd = await folderWith({ 'empty.mjs': '' });
    const { code, err, runs } = await kopf(['run', 'empty.mjs', '-A'], { cwd });
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: There are no handlers in empty\.mjs\. .*\n$/);
    expect(runs).toEqual([]);
  });
});
