/** What endpoints, storage, priorities and certificates do to their objects before these are stored, beyond defaults. */
import { deepCopy, deepEqual, type Mapping } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import { itemsOf, mappingAt } from './defaults/setting.js';
import type { Preparation } from './preparations.js';

/** What is empty is nothing, as it comes back from the store of the real server. */
function dropEmpty(object: Mapping, ...keys: readonly string[]): void {
  for (const key of keys) if (Array.isArray(object[key]) && object[key].length === 0) object[key] = null;
}

/** Labels count as much as endpoints do, as they say of what service it is. */
const slice: Preparation = {
  create(object) {
    dropTopology(object);
    object.metadata.generation = 1;
  },
  update(object, old) {
    dropTopology(object);
    const contentOf = ({ metadata, ...rest }: ServedObject): object => ({ ...rest, labels: metadata.labels ?? {} });
    if (!deepEqual(contentOf(object), contentOf(old))) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
  },
};

/** The old way to tell where an endpoint is. */
function dropTopology(object: ServedObject): void {
  dropEmpty(object, 'endpoints', 'ports');
  for (const endpoint of itemsOf(object, 'endpoints')) delete endpoint.deprecatedTopology;
}

/** Counted from the first change on. */
const csiDriver: Preparation = {
  update(object, old) {
    if (!deepEqual(object.spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
};

const csiNode: Preparation = {
  create: (object) => dropEmpty(mappingAt(object, 'spec'), 'drivers'),
  update: (object) => dropEmpty(mappingAt(object, 'spec'), 'drivers'),
};

/** Nothing of it that matters can change. */
const priorityClass: Preparation = {
  create(object) {
    object.metadata.generation = 1;
  },
};

const attachment: Preparation = {
  update(object, old, subresource) {
    if (subresource !== 'status') return;
    const { managedFields, resourceVersion } = object.metadata;
    object.metadata = {
      ...deepCopy(old.metadata),
      ...(managedFields === undefined ? {} : { managedFields }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
  },
};

/** Who asks is told by the server; what is asked for never changes. */
const signingRequest: Preparation = {
  create(object, { user }) {
    const { username, uid, groups, extra } = user;
    Object.assign(mappingAt(object, 'spec'), {
      username,
      ...(uid === undefined ? {} : { uid }),
      groups: [...groups],
      ...(extra === undefined ? {} : { extra: deepCopy(extra) }),
    });
  },
  update(object, old, subresource, timestamp) {
    object.spec = deepCopy(old.spec);
    if (subresource === '') return;
    const [status, before] = [mappingAt(object, 'status'), mappingAt(old, 'status')];
    if (subresource === 'approval') {
      if (before.certificate === undefined) delete status.certificate;
      else status.certificate = before.certificate;
    }
    for (const condition of itemsOf(status, 'conditions')) {
      condition.lastUpdateTime ??= timestamp;
      const known = itemsOf(before, 'conditions').find(({ type }) => type === condition.type);
      condition.lastTransitionTime ??= known?.status === condition.status ? known?.lastTransitionTime : timestamp;
    }
  },
};

/** By the name in the table of types. */
export const otherPreparations: Readonly<Record<string, Preparation>> = {
  'certificates.CertificateSigningRequest': signingRequest,
  'discovery.EndpointSlice': slice,
  'scheduling.PriorityClass': priorityClass,
  'storage.CSIDriver': csiDriver,
  'storage.CSINode': csiNode,
  'storage.VolumeAttachment': attachment,
};
