/** Validation of `metadata`, which is the same for all kinds. */
import { deepEqual, type ObjectMeta } from '@kopf-ts/core';
import type { Cause } from '../contracts/objects.js';
import { forbiddenField, invalidValue, required } from '../text/field-causes.js';
import { dnsLabel, labelValue, type NameRule, pathSegment, qualifiedName } from './names.js';

const MAX_ANNOTATIONS = 256 * 1024;

/** What is wrong with the metadata of an object, by itself. */
export function validateMetadata(metadata: ObjectMeta, namespaced: boolean, nameRule: NameRule): readonly Cause[] {
  const { name = '', generateName = '', namespace = '' } = metadata;
  return [
    ...(generateName === '' ? [] : nameRule(generateName, true)).map((why) =>
      invalidValue('metadata.generateName', generateName, why),
    ),
    ...(name === ''
      ? [required('metadata.name', 'name or generateName is required')]
      : nameRule(name, false).map((why) => invalidValue('metadata.name', name, why))),
    ...validateNamespace(namespace, namespaced),
    ...((metadata.generation ?? 0) < 0
      ? [invalidValue('metadata.generation', metadata.generation, 'must be greater than or equal to 0')]
      : []),
    ...validateLabels(metadata.labels ?? {}, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations ?? {}, 'metadata.annotations'),
    ...validateOwners(metadata, 'metadata.ownerReferences'),
    ...validateFinalizers(metadata.finalizers ?? [], 'metadata.finalizers'),
  ];
}

function validateNamespace(namespace: string, namespaced: boolean): readonly Cause[] {
  if (!namespaced) return namespace === '' ? [] : [forbiddenField('metadata.namespace', 'not allowed on this type')];
  if (namespace === '') return [required('metadata.namespace')];
  return dnsLabel(namespace, false).map((why) => invalidValue('metadata.namespace', namespace, why));
}

export function validateLabels(labels: Readonly<Record<string, string>>, field: string): readonly Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((why) => invalidValue(field, key, why)),
    ...labelValue(value).map((why) => invalidValue(field, value, why)),
  ]);
}

export function validateAnnotations(annotations: Readonly<Record<string, string>>, field: string): readonly Cause[] {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(value);
  return [
    ...Object.keys(annotations).flatMap((key) =>
      qualifiedName(key.toLowerCase()).map((why) => invalidValue(field, key, why)),
    ),
    ...(size > MAX_ANNOTATIONS
      ? [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${MAX_ANNOTATIONS} bytes`, field }]
      : []),
  ];
}

function validateOwners(metadata: ObjectMeta, field: string): readonly Cause[] {
  const causes: Cause[] = [];
  let controller = '';
  for (const owner of metadata.ownerReferences ?? []) {
    const { apiVersion = '', kind = '', name = '', uid = '' } = owner;
    // As there, what is no group and version has no version.
    const slashes = apiVersion.split('/').length - 1;
    if (apiVersion === '' || slashes > 1 || apiVersion.endsWith('/'))
      causes.push(invalidValue(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
    if (kind === '') causes.push(invalidValue(`${field}.kind`, kind, 'must not be empty'));
    if (name === '') causes.push(invalidValue(`${field}.name`, name, 'must not be empty'));
    if (uid === '') causes.push(invalidValue(`${field}.uid`, uid, 'must not be empty'));
    if (apiVersion === 'v1' && kind === 'Event') {
      causes.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller !== true) continue;
    const current = `${kind}/${name}`;
    if (controller === '') controller = current;
    else {
      causes.push({
        ...invalidValue(field, '', ''),
        // Structs are shown in the order of their fields, unlike mappings.
        message: `Invalid value: ${JSON.stringify(metadata.ownerReferences)}: Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`,
      });
    }
  }
  return causes;
}

function validateFinalizers(finalizers: readonly string[], field: string): readonly Cause[] {
  const isBoth = finalizers.includes('orphan') && finalizers.includes('foregroundDeletion');
  return [
    ...finalizers.flatMap((finalizer) => qualifiedName(finalizer).map((why) => invalidValue(field, finalizer, why))),
    ...(isBoth ? [invalidValue(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')] : []),
  ];
}

/** Some finalizers need no prefix; custom resources may have any, core kinds only these. */
export const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Of the kinds in the core group: finalizers without a prefix must be known ones. */
export function validateCoreFinalizers(
  finalizers: readonly string[],
  fieldOf: (index: number) => string = (index) => `metadata.finalizers[${index}]`,
): readonly Cause[] {
  return finalizers.flatMap((finalizer, index) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
      ? []
      : [
          invalidValue(
            fieldOf(index),
            finalizer,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

/** What of the metadata must not change, or not in this way. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): readonly Cause[] {
  const known = old.finalizers ?? [];
  const added = [...new Set(metadata.finalizers ?? [])].filter((finalizer) => !known.includes(finalizer)).sort();
  const isDeleting = old.deletionTimestamp !== undefined && old.deletionTimestamp !== null;
  const immutable = (field: keyof ObjectMeta & string): readonly Cause[] =>
    deepEqual(metadata[field], old[field])
      ? []
      : [invalidValue(`metadata.${field}`, metadata[field], 'field is immutable')];
  return [
    ...(isDeleting && added.length > 0
      ? [
          forbiddenField(
            'metadata.finalizers',
            `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(', ')}}`,
          ),
        ]
      : []),
    ...immutable('name'),
    ...immutable('namespace'),
    ...immutable('uid'),
    ...immutable('creationTimestamp'),
    ...immutable('deletionTimestamp'),
    ...immutable('deletionGracePeriodSeconds'),
    ...validateLabels(metadata.labels ?? {}, 'metadata.labels'),
    ...validateAnnotations(metadata.annotations ?? {}, 'metadata.annotations'),
    ...validateOwners(metadata, 'metadata.ownerReferences'),
  ];
}

/** What everyone checks of an updated object, whatever the kind. */
export function validateCommon(metadata: ObjectMeta, old: ObjectMeta, namespaced: boolean): readonly Cause[] {
  return [...validateMetadata(metadata, namespaced, pathSegment), ...validateMetadataUpdate(metadata, old)];
}
