import * as kopf from 'kopf-ts';

const { webhooks } = kopf;

/** Where the API server can reach us depends on where both of us are. Take the one that fits; or let it be guessed. */
const servers: Readonly<Record<string, () => kopf.WebhookServer>> = {
  // On this machine, or wherever the name of the host leads to. The certificate is made, and renewed in time.
  plain: () => webhooks.webhookServer({ addr: '127.0.0.1' }),
  named: () => webhooks.webhookServer({ addr: '0.0.0.0', port: 8443, host: 'webhooks.example.com' }),
  files: () => webhooks.webhookServer({ port: 8443, certfile: 'tls.crt', pkeyfile: 'tls.key', cafile: 'ca.crt' }),
  // Those who call must show a certificate, too: it is `sslpeer` in the handlers.
  mutual: () => webhooks.webhookServer({ addr: '127.0.0.1', verifyMode: 'required', verifyCafile: 'clients.crt' }),

  // In a pod of the cluster, behind a service.
  service: () => webhooks.serviceServer({ service: { name: 'kopf-example', namespace: 'default' }, port: 8443 }),

  // Clusters on this machine see it by names of their own.
  k3d: () => webhooks.k3dServer({ port: 8443 }),
  minikube: () => webhooks.minikubeServer({ port: 8443 }),
  docker: () => webhooks.dockerDesktopServer({ port: 8443 }),

  // Clusters elsewhere do not see it at all.
  ngrok: () => webhooks.ngrokTunnel({ ...(process.env['NGROK_TOKEN'] && { token: process.env['NGROK_TOKEN'] }) }),

  // By what is found in the kubeconfig.
  auto: () => webhooks.autoServer(),
  tunnel: () => webhooks.autoTunnel(),
};

kopf.on.startup(({ settings }) => {
  const choice = process.env['SERVER'] ?? 'auto';
  const make = servers[choice];
  if (make === undefined) throw new kopf.PermanentError(`There is no server "${choice}".`);
  settings.admission.server = make();
  // The operator keeps the webhook configurations of this name by itself.
  settings.admission.managed = 'examples.kopf.dev';
});

// The label goes to the configuration: for objects without it, the API server does not even ask.
const checked = { labels: { checked: 'yes' } };

kopf.on.validate('kopfexamples', checked, function checkField({ spec, warnings }) {
  if (spec.field === 'wrong') throw new kopf.AdmissionError('Anything but that!', { code: 422 });
  if (spec.field === undefined) warnings.push('There is no field, and the default is boring.');
});

kopf.on.mutate('kopfexamples', { ...checked, operations: ['CREATE'] }, function setDefaults({ spec, patch, userinfo }) {
  if (spec.field === undefined) patch.spec.field = 'boring';
  patch.metadata.labels['creator'] = (userinfo.username ?? 'nobody').replaceAll(/[^\w.-]/g, '_');
});

// Of a subresource: here, whoever changes the status.
kopf.on.validate(
  'kopfexamples',
  { ...checked, subresource: 'status', operations: ['UPDATE'] },
  function checkStatus({ status }) {
    if (status.phase === 'impossible') throw new kopf.AdmissionError('There is no such phase.');
  },
);

// With side effects, it must be careful in dry runs; and it is given what the connection tells of the caller.
kopf.on.validate('kopfexamples', { ...checked, sideEffects: true }, function count({ dryrun, memo, sslpeer, logger }) {
  if (dryrun) return;
  memo.changes = (memo.changes ?? 0) + 1;
  logger.info(`Changes by now: ${memo.changes}; by ${JSON.stringify(sslpeer['subject'] ?? 'somebody')}.`);
});
