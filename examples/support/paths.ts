/** The addresses of objects. Real programs discover them; the tests know all the kinds that they look at. */

const GROUPS: Readonly<Record<string, string>> = {
  configmaps: '/api/v1',
  events: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  pods: '/api/v1',
  secrets: '/api/v1',
  serviceaccounts: '/api/v1',
  services: '/api/v1',
  statefulsets: '/apis/apps/v1',
  databases: '/apis/example.com/v1',
  greetings: '/apis/example.com/v1',
  leases: '/apis/coordination.k8s.io/v1',
  kopfexamples: '/apis/kopf.dev/v1',
  kopfpeerings: '/apis/kopf.dev/v1',
  clusterkopfpeerings: '/apis/kopf.dev/v1',
  customresourcedefinitions: '/apis/apiextensions.k8s.io/v1',
  validatingwebhookconfigurations: '/apis/admissionregistration.k8s.io/v1',
  mutatingwebhookconfigurations: '/apis/admissionregistration.k8s.io/v1',
};

/** Of a kind: in a namespace, or in the cluster; or of one object of it. */
export function pathOf(plural: string, namespace?: string, name?: string): string {
  const group = GROUPS[plural];
  if (group === undefined) throw new Error(`No test has looked at ${plural} so far: add it to the table.`);
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${group}${scope}/${plural}${name === undefined ? '' : `/${name}`}`;
}
