import * as kopf from 'kopf-ts';

const Greeting = kopf.resource<{ text: string }, { published?: string }>({
  group: 'example.com',
  version: 'v1',
  plural: 'greetings',
});

// The traces of this operator on the objects, under a name of its own: others may be there, too.
const prefix = 'greetings.example.com';
kopf.on.startup(({ settings }) => {
  settings.persistence.finalizer = `${prefix}/finalizer`;
  settings.persistence.progressStorage = kopf.storage.annotationsProgressStorage({ prefix });
  settings.persistence.diffbaseStorage = kopf.storage.annotationsDiffBaseStorage({ prefix });
});

kopf.on.create(Greeting, async function publish({ namespace, spec, body, patch, client }) {
  const page: kopf.AnyObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: { text: spec.text } };
  kopf.adopt(page);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const created = await client.request<kopf.AnyObject>({ method: 'POST', path, body: page });
  patch.status.published = created.metadata?.name ?? null;
  kopf.info(body, { reason: 'Published', message: `It is to be read in ${created.metadata?.name}.` });
});

kopf.on.update(Greeting, { field: 'spec.text' }, async function revise({ namespace, status, new: text, client }) {
  if (status.published === undefined) throw new kopf.TemporaryError('It is not published yet.', { delay: 5 });
  await client.request({
    method: 'PATCH',
    path: `/api/v1/namespaces/${namespace}/configmaps/${status.published}`,
    body: { data: { text } },
    contentType: 'application/merge-patch+json',
  });
});

kopf.on.delete(Greeting, function retract({ name, logger }) {
  logger.info(`${name} is retracted.`);
});

kopf.on.probe(function time() {
  return new Date().toISOString();
});
