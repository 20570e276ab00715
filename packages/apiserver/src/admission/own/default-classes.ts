/** Claims and ingresses that name no class get the one that is marked as the default. */
import type { AdmissionAttributes } from '../../contracts/admission.js';
import type { Revision, StoreReader } from '../../contracts/store.js';
import { forbidden } from '../../http/status-errors.js';
import { mappingAt } from '../../kinds/defaults/setting.js';
import { parseRevision } from '../../store/revision.js';

const STORAGE = 'storageclasses.storage.k8s.io';
const STORAGE_MARKS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];
const INGRESS = 'ingressclasses.networking.k8s.io';
const INGRESS_MARKS = ['ingressclass.kubernetes.io/is-default-class'];
const OLD_INGRESS_CLASS = 'kubernetes.io/ingress.class';

export function setDefaultClass({ operation, object, resource, name }: AdmissionAttributes, store: StoreReader): void {
  if (operation !== 'CREATE' || object === undefined) return;
  if (resource.collection === 'persistentvolumeclaims') {
    const spec = mappingAt(object, 'spec');
    if (spec.storageClassName !== undefined) return;
    const [newest] = markedIn(store, STORAGE, STORAGE_MARKS);
    if (newest !== undefined) spec.storageClassName = newest.name;
  }
  if (resource.collection === 'ingresses.networking.k8s.io') {
    const spec = mappingAt(object, 'spec');
    if (spec.ingressClassName !== undefined || object.metadata.annotations?.[OLD_INGRESS_CLASS] !== undefined) return;
    const marked = markedIn(store, INGRESS, INGRESS_MARKS);
    if (marked.length > 1) {
      throw forbidden(resource, name, `${marked.length} default IngressClasses were found, only 1 allowed`);
    }
    if (marked[0] !== undefined) spec.ingressClassName = marked[0].name;
  }
}

/** The newest ones first, and then by name. */
function markedIn(store: StoreReader, collection: string, marks: readonly string[]): readonly Revision[] {
  return store
    .list(collection)
    .filter(({ json }) => json.includes('is-default-class"'))
    .map((revision) => ({ revision, metadata: parseRevision(revision).metadata }))
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === 'true'))
    .sort((a, b) => String(b.metadata.creationTimestamp).localeCompare(String(a.metadata.creationTimestamp)))
    .map(({ revision }) => revision);
}
