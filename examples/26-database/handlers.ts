import { randomBytes } from 'node:crypto';
import { PersistentVolumeClaim, Pod, Secret, Service, StatefulSet } from '@kopf-ts/kinds';
import * as kopf from 'kopf-ts';

interface DatabaseSpec {
  version: string;
  replicas: number;
  storage: string;
}
interface DatabaseStatus {
  phase?: 'Creating' | 'Rolling' | 'Ready';
  conditions?: kopf.Condition[];
}
export const Database = kopf.resource<DatabaseSpec, DatabaseStatus>({
  group: 'example.com',
  version: 'v1',
  plural: 'databases',
  namespaced: true,
});

kopf.on.startup(({ settings }) => {
  settings.admission.server = kopf.webhooks.webhookServer({ addr: '127.0.0.1' });
  settings.admission.managed = 'databases.example.com';
});

// Admission: what is left out, and what cannot be done.
kopf.on.mutate(Database, { operations: ['CREATE'] }, function setDefaults({ spec, patch }) {
  patch.spec.replicas = spec.replicas ?? 3;
  patch.spec.storage = spec.storage ?? '1Gi';
});

kopf.on.validate(Database, { operations: ['CREATE', 'UPDATE'] }, function checkSpec({ spec, old, warnings }) {
  if (spec.replicas % 2 === 0) warnings.push('With an even number of replicas, there may be no majority.');
  if (old === undefined) return;
  if (Number.parseInt(spec.version, 10) < Number.parseInt(old.spec.version, 10)) {
    throw new kopf.AdmissionError(`Data of ${old.spec.version} cannot be read by ${spec.version}.`, { code: 422 });
  }
  if (spec.storage !== old.spec.storage) throw new kopf.AdmissionError('The storage cannot be resized.', { code: 422 });
});

/** The replicas with an ordinal of at least `partition` are of the wanted version, the others stay as they are. */
function replicasOf(
  { name, spec }: Pick<kopf.Change<typeof Database>, 'name' | 'spec'>,
  partition = 0,
): kopf.DeepPartial<StatefulSet> {
  const labels = { database: name };
  const password = { secretKeyRef: { name, key: 'password' } };
  return {
    metadata: { name },
    spec: {
      serviceName: name,
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'database',
              image: `postgres:${spec.version}`,
              ports: [{ name: 'sql', containerPort: 5432 }],
              env: [{ name: 'POSTGRES_PASSWORD', valueFrom: password }],
              volumeMounts: [{ name: 'data', mountPath: '/var/lib/postgresql/data' }],
            },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data', labels },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: spec.storage } } },
        },
      ],
    },
  };
}

kopf.on.create(Database, async function provide({ name, body, spec, patch, api }) {
  patch.status.phase = 'Creating';
  if ((await api(Secret).find(name)) === undefined) {
    const password = randomBytes(16).toString('hex');
    await api(Secret).create({ metadata: { name }, stringData: { password } }, { owner: body });
  }
  const service = { clusterIP: 'None', selector: { database: name }, ports: [{ name: 'sql', port: 5432 }] };
  await api(Service).apply({ metadata: { name }, spec: service }, { owner: body });
  await api(StatefulSet).apply(replicasOf({ name, spec }), { owner: body });
});

kopf.on.create(Database, { timeout: 3600 }, async function awaitReplicas({ name, spec, patch, api }) {
  const { status } = await api(StatefulSet).get(name);
  const ready = status?.readyReplicas ?? 0;
  if (ready < spec.replicas) throw new kopf.TemporaryError(`${ready} of ${spec.replicas} are ready.`, { delay: 2 });
  patch.status.phase = 'Ready';
});

// From the last replica to the first: each is a sub-handler, so it is remembered when it is done, and retried if not.
kopf.on.update(Database, { field: 'spec' }, async function roll({ name, body, spec, patch, api, logger }) {
  patch.status.phase = 'Rolling';
  for (let ordinal = spec.replicas - 1; ordinal >= 0; ordinal--) {
    const replica = `${name}-${ordinal}`;
    await kopf.execute({
      async [replica]() {
        await api(StatefulSet).apply(replicasOf({ name, spec }, ordinal), { owner: body });
        const pod = await api(Pod).find(replica);
        const isReady = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
        const isNew = pod?.spec.containers[0]?.image === `postgres:${spec.version}`;
        if (!isReady || !isNew) throw new kopf.TemporaryError(`${replica} is not ready yet.`, { delay: 2 });
        logger.info(`${replica} is of version ${spec.version}.`);
      },
    });
  }
  patch.status.phase = 'Ready';
});

// The claims of a StatefulSet outlive it; all the rest is deleted with its owner.
kopf.on.delete(Database, async function cleanUp({ name, api }) {
  await api(PersistentVolumeClaim).deleteCollection({ labels: { database: name } });
});

const readyByOwner = kopf.index(StatefulSet, { id: 'readyByOwner' }, ({ meta, status }) =>
  Object.fromEntries((meta.ownerReferences ?? []).map(({ uid = '' }) => [uid, status.readyReplicas ?? 0])),
);

kopf.timer(Database, { interval: 5 }, function tellConditions({ uid, spec, indices, patch, body }) {
  const [ready = 0] = indices.get(readyByOwner).get(uid) ?? [];
  const message = `${ready} of ${spec.replicas} replicas are ready.`;
  kopf.conditions(patch, body).set('Ready', ready >= spec.replicas, { reason: 'Replicas', message });
});
