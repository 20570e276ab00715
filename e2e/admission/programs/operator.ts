/** A program: an operator with a strict webhook. Its argument tells in JSON what is special about it. */
import { AdmissionError, type ConnectionInfo, createRegistry, run, settings, webhooks } from 'kopf-ts';

export interface OperatorProgram {
  readonly connection: ConnectionInfo;
  readonly selector: string;
  readonly namespace: string;
  /** The name of the configurations. */
  readonly managed: string;
  readonly server?: webhooks.WebhookServerOptions;
  /** Of the handler, beside its usual ones. */
  readonly check?: { readonly persistent?: boolean; readonly ignoreFailures?: boolean };
  /** Whether there is a handler for the Secrets of the namespace, too. */
  readonly checksSecrets?: boolean;
}

const options = JSON.parse(process.argv[2] ?? '{}') as OperatorProgram;
const { connection, selector, namespace, managed } = options;

const registry = createRegistry();
registry.on.login(function login() {
  return connection;
});
registry.on.startup(function configure({ settings: own }) {
  own.admission.server = webhooks.webhookServer({ addr: '127.0.0.1', ...options.server });
  own.admission.managed = managed;
});
registry.on.validate(selector, { id: 'check', ...options.check }, function check({ spec }) {
  if (spec['size'] < 0) throw new AdmissionError('Not a size.', { code: 422 });
});
if (options.checksSecrets) {
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const operations = ['CREATE', 'UPDATE'] as const;
  registry.on.validate('v1/secrets', { id: 'check-secrets', namespaceSelector, operations }, () => {});
}
await run({ registry, namespaces: [namespace], standalone: true, settings: settings() });
