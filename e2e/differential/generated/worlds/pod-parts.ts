/** Pods and their parts: valid ones, of many shapes. */
import type { Fields } from '../../sequences/objects.js';
import type { Random } from '../random.js';

const images = ['app:v1', 'registry.example.com/app:v2', 'busybox', 'nginx:latest'];
const quantities = ['100m', '1', '0.5', '128Mi', '1Gi', '2e3', 1];

export const port = (random: Random): number => random.pick([80, 443, 8080, 5432, 65_535]);

const resources = (random: Random): Fields => {
  const cpu = random.pick(['100m', '0.5', '1']);
  return random.fields(
    {
      requests: () => random.fields({ cpu: () => cpu, memory: () => random.pick(['64Mi', '1Gi', 1000]) }, 0.7),
      limits: () => random.fields({ cpu: () => random.pick(['1', 2]), memory: () => random.pick(['1Gi', '2G']) }, 0.7),
    },
    0.7,
  );
};

const action = (random: Random): Fields =>
  random.pick<() => Fields>([
    () => ({ exec: { command: ['true'] } }),
    () => ({
      httpGet: {
        port: random.pick([80, 'web']),
        ...random.fields({
          path: () => '/healthz',
          scheme: () => 'HTTPS',
          httpHeaders: () => [{ name: 'X-Test', value: 'yes' }],
        }),
      },
    }),
    () => ({ tcpSocket: { port: port(random) } }),
  ])();

const probe = (random: Random): Fields => ({
  ...(random.chance(0.1) ? { grpc: { port: port(random) } } : action(random)),
  ...random.fields({
    initialDelaySeconds: () => random.below(10),
    timeoutSeconds: () => random.between(1, 5),
    periodSeconds: () => random.between(1, 20),
    failureThreshold: () => random.between(1, 5),
  }),
});

const variable = (random: Random): Fields => ({
  name: random.pick(['A', 'B_C', 'path', 'D.E']),
  ...random.weighted<() => Fields>([
    [4, () => ({ value: random.pick(['x', '$(A)', '']) })],
    [1, () => ({ valueFrom: { fieldRef: { fieldPath: random.pick(['metadata.name', 'status.podIP']) } } })],
    [1, () => ({ valueFrom: { configMapKeyRef: { name: 'settings', key: 'k' } } })],
    [1, () => ({ valueFrom: { secretKeyRef: { name: 'settings', key: 'k', optional: true } } })],
    [1, () => ({ valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } })],
    [1, () => ({})],
  ])(),
});

/** One of a kind for each value of the key. */
export const distinct = (list: readonly Fields[], ...keys: readonly string[]): Fields[] => [
  ...new Map(list.map((item) => [JSON.stringify(keys.map((key) => item[key])), item])).values(),
];

const several = (random: Random, make: (random: Random) => Fields, ...keys: readonly string[]): Fields[] =>
  distinct(
    Array.from({ length: random.between(1, 3) }, () => make(random)),
    ...keys,
  );

const containerPort = (random: Random): Fields => ({
  containerPort: port(random),
  ...random.fields({ name: () => random.pick(['web', 'db']), protocol: () => random.pick(['TCP', 'UDP']) }),
});

const containerSecurity = (random: Random): Fields =>
  random.fields({
    runAsUser: () => random.pick([0, 1000]),
    runAsNonRoot: () => random.chance(0.5),
    readOnlyRootFilesystem: () => true,
    allowPrivilegeEscalation: () => random.chance(0.5),
    capabilities: () => random.fields({ add: () => ['NET_ADMIN'], drop: () => ['ALL'] }, 0.6),
    seccompProfile: () => ({ type: 'RuntimeDefault' }),
  });

const container = (random: Random, name: string, volumes: readonly string[] = []): Fields => ({
  name,
  image: random.pick(images),
  ...random.fields(
    {
      command: () => random.some(['sh', '-c', 'sleep 1']),
      args: () => ['--verbose'],
      workingDir: () => '/work',
      ports: () => distinct(several(random, containerPort, 'name'), 'containerPort', 'protocol'),
      env: () => several(random, variable, 'name'),
      envFrom: () => [
        random.pick<Fields>([{ configMapRef: { name: 'a' } }, { prefix: 'P_', secretRef: { name: 's' } }]),
      ],
      resources: () => resources(random),
      livenessProbe: () => probe(random),
      readinessProbe: () => ({ ...probe(random), ...random.fields({ successThreshold: () => 2 }) }),
      startupProbe: () => probe(random),
      lifecycle: () => random.fields({ preStop: () => action(random), postStart: () => action(random) }, 0.7),
      imagePullPolicy: () => random.pick(['Always', 'IfNotPresent', 'Never']),
      securityContext: () => containerSecurity(random),
      terminationMessagePolicy: () => 'FallbackToLogsOnError',
      terminationMessagePath: () => '/tmp/message',
      stdin: () => true,
      tty: () => true,
    },
    0.16,
  ),
  ...(volumes.length > 0 && random.chance(0.8)
    ? {
        volumeMounts: random.some(volumes).map((volume) => ({
          name: volume,
          mountPath: `/mnt/${volume}`,
          ...random.fields({ readOnly: () => true, subPath: () => 'sub' }, 0.2),
        })),
      }
    : {}),
});

const volumeSource = (random: Random): Fields =>
  random.pick<() => Fields>([
    () => ({ emptyDir: random.fields({ medium: () => 'Memory', sizeLimit: () => random.pick(quantities) }) }),
    () => ({
      configMap: {
        name: 'settings',
        ...random.fields({ items: () => [{ key: 'k', path: 'k.txt' }], defaultMode: () => 256, optional: () => true }),
      },
    }),
    () => ({ secret: { secretName: 'settings', ...random.fields({ defaultMode: () => 420, optional: () => false }) } }),
    () => ({ hostPath: { path: '/var/log', ...random.fields({ type: () => 'Directory' }) } }),
    () => ({ persistentVolumeClaim: { claimName: 'data', ...random.fields({ readOnly: () => true }) } }),
    () => ({ downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } }),
    () => ({
      projected: {
        sources: [
          random.pick<Fields>([
            { configMap: { name: 'settings' } },
            { secret: { name: 'settings' } },
            { serviceAccountToken: { path: 'token', audience: 'x' } },
            { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ]),
        ],
      },
    }),
    () => ({ nfs: { server: 'nfs.example.com', path: '/share' } }),
    () => ({}),
  ])();

const expression = (random: Random): Fields => {
  const operator = random.pick(['In', 'NotIn', 'Exists', 'DoesNotExist']);
  return { key: 'zone', operator, ...(operator.endsWith('n') ? { values: ['a', 'b'] } : {}) };
};

const podTerm = (): Fields => ({
  labelSelector: { matchLabels: { app: 'web' } },
  topologyKey: 'kubernetes.io/hostname',
});

const affinity = (random: Random): Fields =>
  random.fields(
    {
      nodeAffinity: () =>
        random.fields(
          {
            requiredDuringSchedulingIgnoredDuringExecution: () => ({
              nodeSelectorTerms: [{ matchExpressions: [expression(random)] }],
            }),
            preferredDuringSchedulingIgnoredDuringExecution: () => [
              { weight: random.between(1, 100), preference: { matchExpressions: [expression(random)] } },
            ],
          },
          0.6,
        ),
      podAffinity: () => ({ requiredDuringSchedulingIgnoredDuringExecution: [podTerm()] }),
      podAntiAffinity: () => ({
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: random.between(1, 100), podAffinityTerm: podTerm() },
        ],
      }),
    },
    0.5,
  );

const toleration = (random: Random): Fields => {
  const operator = random.pick(['Exists', 'Equal']);
  const effect = random.pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule']);
  return {
    key: random.pick(['a', 'example.com/b']),
    ...random.fields({ operator: () => operator }, 0.8),
    effect,
    ...(operator === 'Equal' ? { value: 'x' } : {}),
    ...(effect === 'NoExecute' && random.chance(0.5) ? { tolerationSeconds: 60 } : {}),
  };
};

export const podSpec = (random: Random, restartPolicies: readonly string[] = ['Always']): Fields => {
  const volumes = random.chance(0.35) ? random.some(['data', 'cache', 'logs']) : [];
  const names = random.weighted([
    [4, ['main']],
    [1, ['main', 'side']],
  ]);
  return {
    containers: names.map((name) => container(random, name, volumes)),
    ...(restartPolicies[0] === 'Always' && random.chance(0.8) ? {} : { restartPolicy: random.pick(restartPolicies) }),
    ...(volumes.length > 0 ? { volumes: volumes.map((name) => ({ name, ...volumeSource(random) })) } : {}),
    ...random.fields(
      {
        initContainers: () => [container(random, 'init', volumes)],
        terminationGracePeriodSeconds: () => random.pick([0, 1, 30]),
        activeDeadlineSeconds: () => 100,
        dnsPolicy: () => random.pick(['ClusterFirst', 'Default']),
        nodeSelector: () => ({ disk: 'ssd' }),
        serviceAccountName: () => random.pick(['default', 'robot']),
        automountServiceAccountToken: () => false,
        hostNetwork: () => false,
        securityContext: () =>
          random.fields({
            runAsUser: () => 1000,
            fsGroup: () => 2000,
            runAsNonRoot: () => true,
            supplementalGroups: () => [1, 2],
            sysctls: () => [{ name: 'kernel.shm_rmid_forced', value: '0' }],
            fsGroupChangePolicy: () => 'OnRootMismatch',
          }),
        imagePullSecrets: () => [{ name: 'pull' }],
        hostname: () => 'host',
        subdomain: () => 'sub',
        affinity: () => affinity(random),
        tolerations: () => [toleration(random)],
        hostAliases: () => [{ ip: '127.0.0.1', hostnames: ['a.local'] }],
        dnsConfig: () => ({
          nameservers: ['1.2.3.4'],
          searches: ['example.com'],
          options: [{ name: 'ndots', value: '2' }],
        }),
        readinessGates: () => [{ conditionType: 'example.com/ready' }],
        enableServiceLinks: () => random.chance(0.5),
        shareProcessNamespace: () => true,
        topologySpreadConstraints: () => [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: random.pick(['DoNotSchedule', 'ScheduleAnyway']),
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
        schedulerName: () => 'other',
        priorityClassName: () => 'system-cluster-critical',
        preemptionPolicy: () => 'PreemptLowerPriority',
        schedulingGates: () => [{ name: 'example.com/gate' }],
      },
      0.07,
    ),
  };
};

export const podStatus = (random: Random): Fields =>
  random.fields(
    {
      phase: () => random.pick(['Pending', 'Running', 'Succeeded', 'Failed']),
      conditions: () => [
        { type: 'Ready', status: random.pick(['True', 'False']), lastTransitionTime: '2020-01-02T03:04:05Z' },
      ],
      podIP: () => '10.1.2.3',
      podIPs: () => [{ ip: '10.1.2.3' }],
      message: () => 'about it',
      reason: () => 'Evicted',
      startTime: () => '2020-01-02T03:04:05Z',
      containerStatuses: () => [
        {
          name: 'main',
          image: 'app:v1',
          imageID: 'sha256:1',
          ready: random.chance(0.5),
          restartCount: random.below(3),
          ...random.fields(
            {
              state: () =>
                random.pick<Fields>([
                  { running: { startedAt: '2020-01-02T03:04:05Z' } },
                  { waiting: { reason: 'CrashLoopBackOff' } },
                  { terminated: { exitCode: 1, reason: 'Error' } },
                ]),
            },
            0.7,
          ),
        },
      ],
    },
    0.45,
  );

export const template = (random: Random, restartPolicies?: readonly string[]): Fields => ({
  metadata: {
    labels: { app: 'web', ...random.fields({ extra: () => 'x' }) },
    ...random.fields({ annotations: () => ({ note: 'x' }) }),
  },
  spec: podSpec(random, restartPolicies),
});
