import * as kopf from 'kopf-ts';

kopf.on.create('kopfexamples', async function startPod({ namespace, spec, client, logger }) {
  const pod: kopf.AnyObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'busybox', command: ['sh', '-x', '-c', `sleep ${spec.duration}`] }],
    },
  };

  // Named after the object, in its namespace, with its labels, and owned by it: so, deleted together with it.
  kopf.adopt(pod);

  const path = `/api/v1/namespaces/${namespace}/pods`;
  const created = await client.request<kopf.AnyObject>({ method: 'POST', path, body: pod });
  logger.info(`The pod ${created.metadata?.name} is started.`);
  return { pod: created.metadata?.uid };
});
