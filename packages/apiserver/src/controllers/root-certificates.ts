/** Every namespace has the certificate by which pods trust the API server, if it speaks HTTPS. */
import type { Controller } from '../contracts/controller.js';
import { inEveryNamespace } from './namespaced-object.js';

const NAME = 'kube-root-ca.crt';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

export const rootCertificatePublisher = (certificate: string): Controller =>
  inEveryNamespace({
    user: 'system:serviceaccount:kube-system:root-ca-cert-publisher',
    collection: 'configmaps',
    name: NAME,
    objectFor: () => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: NAME, annotations: { 'kubernetes.io/description': DESCRIPTION } },
      data: { 'ca.crt': certificate },
    }),
    isRight: ({ data }) => data?.['ca.crt'] === certificate,
  });
