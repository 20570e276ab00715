/**
 * What objects of all kinds are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */

/** Quantity is a fixed-point representation of a number. */
export type Quantity = string;

/** Condition contains details for one aspect of the current state of this API Resource. */
export interface Condition {
  /** lastTransitionTime is the last time the condition transitioned from one status to another. */
  lastTransitionTime: Time;
  /** message is a human readable message indicating details about the transition. */
  message: string;
  /** observedGeneration represents the .metadata.generation that the condition was set based upon. */
  observedGeneration?: number;
  /** reason contains a programmatic identifier indicating the reason for the condition's last transition. */
  reason: string;
  /** status of the condition, one of True, False, Unknown. */
  status: string;
  /** type of condition in CamelCase or in foo.example.com/CamelCase. */
  type: string;
}

/**
 * FieldSelectorRequirement is a selector that contains values, a key, and an operator that relates the key and
 * values.
 */
export interface FieldSelectorRequirement {
  /** key is the field selector key that the requirement applies to. */
  key: string;
  /** operator represents a key's relationship to a set of values. */
  operator: string;
  /** values is an array of string values. */
  values?: string[];
}

/** FieldsV1 stores a set of fields in a data structure like a Trie, in JSON format. */
export type FieldsV1 = { [field: string]: unknown };

/** A label selector is a label query over a set of resources. */
export interface LabelSelector {
  /** matchExpressions is a list of label selector requirements. */
  matchExpressions?: LabelSelectorRequirement[];
  /** matchLabels is a map of {key,value} pairs. */
  matchLabels?: { [key: string]: string };
}

/**
 * A label selector requirement is a selector that contains values, a key, and an operator that relates the key
 * and values.
 */
export interface LabelSelectorRequirement {
  /** key is the label key that the selector applies to. */
  key: string;
  /** operator represents a key's relationship to a set of values. */
  operator: string;
  /** values is an array of string values. */
  values?: string[];
}

/**
 * ManagedFieldsEntry is a workflow-id, a FieldSet and the group version of the resource that the fieldset
 * applies to.
 */
export interface ManagedFieldsEntry {
  /** APIVersion defines the version of this resource that this field set applies to. */
  apiVersion?: string;
  /** FieldsType is the discriminator for the different fields format and version. */
  fieldsType?: string;
  /** FieldsV1 holds the first JSON version format as described in the "FieldsV1" type. */
  fieldsV1?: FieldsV1;
  /** Manager is an identifier of the workflow managing these fields. */
  manager?: string;
  /** Operation is the type of operation which lead to this ManagedFieldsEntry being created. */
  operation?: string;
  /**
   * Subresource is the name of the subresource used to update that object, or empty string if the object was
   * updated through the main resource.
   */
  subresource?: string;
  /** Time is the timestamp of when the ManagedFields entry was added. */
  time?: Time;
}

/** MicroTime is version of Time with microsecond level precision. */
export type MicroTime = string;

/** ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create. */
export type ObjectMeta = {
  /**
   * Annotations is an unstructured key value map stored with a resource that may be set by external tools to store
   * and retrieve arbitrary metadata.
   */
  annotations?: { [key: string]: string };
  /** CreationTimestamp is a timestamp representing the server time when this object was created. */
  creationTimestamp?: Time;
  /** Number of seconds allowed for this object to gracefully terminate before it will be removed from the system. */
  deletionGracePeriodSeconds?: number;
  /** DeletionTimestamp is RFC 3339 date and time at which this resource will be deleted. */
  deletionTimestamp?: Time;
  /** Must be empty before the object is deleted from the registry. */
  finalizers?: string[];
  /**
   * GenerateName is an optional prefix, used by the server, to generate a unique name ONLY IF the Name field has
   * not been provided.
   */
  generateName?: string;
  /** A sequence number representing a specific generation of the desired state. */
  generation?: number;
  /** Map of string keys and values that can be used to organize and categorize (scope and select) objects. */
  labels?: { [key: string]: string };
  /** ManagedFields maps workflow-id and version to the set of fields that are managed by that workflow. */
  managedFields?: ManagedFieldsEntry[];
  /** Name must be unique within a namespace. */
  name?: string;
  /** Namespace defines the space within which each name must be unique. */
  namespace?: string;
  /** List of objects depended by this object. */
  ownerReferences?: OwnerReference[];
  /**
   * An opaque value that represents the internal version of this object that can be used by clients to determine
   * when objects have changed.
   */
  resourceVersion?: string;
  /** @deprecated selfLink is a legacy read-only field that is no longer populated by the system. */
  selfLink?: string;
  /** UID is the unique in time and space value for this object. */
  uid?: string;
};

/** OwnerReference contains enough information to let you identify an owning object. */
export interface OwnerReference {
  /** API version of the referent. */
  apiVersion: string;
  /**
   * If true, AND if the owner has the "foregroundDeletion" finalizer, then the owner cannot be deleted from the
   * key-value store until this reference is removed.
   */
  blockOwnerDeletion?: boolean;
  /** If true, this reference points to the managing controller. */
  controller?: boolean;
  /** Kind of the referent. */
  kind: string;
  /** Name of the referent. */
  name: string;
  /** UID of the referent. */
  uid: string;
}

/** Time is a wrapper around time.Time which supports correct marshaling to YAML and JSON. */
export type Time = string;

/** RawExtension is used to hold extensions in external versions. */
export type RawExtension = { [field: string]: unknown };

/** IntOrString is a type that can hold an int32 or a string. */
export type IntOrString = number | string;
