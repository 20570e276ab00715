/**
 * The kinds of apiextensions.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { ObjectMeta, Time } from '../../meta.k8s.io/v1/index.js';

/** CustomResourceDefinition represents a resource that should be exposed on the API server. */
export interface CustomResourceDefinition {
  apiVersion?: 'apiextensions.k8s.io/v1';
  kind?: 'CustomResourceDefinition';
  /**
   * Standard object's metadata More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata: ObjectMeta;
  /** spec describes how the user wants the resources to appear */
  spec: CustomResourceDefinitionSpec;
  /** status indicates the actual state of the CustomResourceDefinition */
  status?: CustomResourceDefinitionStatus;
}
/** The customresourcedefinitions of `apiextensions.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const CustomResourceDefinition: ResourceToken<CustomResourceDefinition, undefined> = { selector: { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' }, namespaced: false };

/** CustomResourceColumnDefinition specifies a column for server side printing. */
export interface CustomResourceColumnDefinition {
  /** description is a human readable description of this column. */
  description?: string;
  /** format is an optional OpenAPI type definition for this column. */
  format?: string;
  /**
   * jsonPath is a simple JSON path (i.e. with array notation) which is evaluated against each custom resource to
   * produce the value for this column.
   */
  jsonPath: string;
  /** name is a human readable name for the column. */
  name: string;
  /** priority is an integer defining the relative importance of this column compared to others. */
  priority?: number;
  /** type is an OpenAPI type definition for this column. */
  type: string;
}

/** CustomResourceConversion describes how to convert different versions of a CR. */
export interface CustomResourceConversion {
  /** strategy specifies how custom resources are converted between versions. */
  strategy: string;
  /** webhook describes how to call the conversion webhook. */
  webhook?: WebhookConversion;
}

/** CustomResourceDefinitionCondition contains details for the current condition of this pod. */
export interface CustomResourceDefinitionCondition {
  /** lastTransitionTime last time the condition transitioned from one status to another. */
  lastTransitionTime?: Time;
  /** message is a human-readable message indicating details about last transition. */
  message?: string;
  /** observedGeneration represents the .metadata.generation that the condition was set based upon. */
  observedGeneration?: number;
  /** reason is a unique, one-word, CamelCase reason for the condition's last transition. */
  reason?: string;
  /** status is the status of the condition. */
  status: string;
  /** type is the type of the condition. */
  type: string;
}

/** CustomResourceDefinitionNames indicates the names to serve this CustomResourceDefinition */
export interface CustomResourceDefinitionNames {
  /** categories is a list of grouped resources this custom resource belongs to (e.g. */
  categories?: string[];
  /** kind is the serialized kind of the resource. */
  kind: string;
  /** listKind is the serialized kind of the list for this resource. */
  listKind?: string;
  /** plural is the plural name of the resource to serve. */
  plural: string;
  /**
   * shortNames are short names for the resource, exposed in API discovery documents, and used by clients to
   * support invocations like `kubectl get <shortname>`.
   */
  shortNames?: string[];
  /** singular is the singular name of the resource. */
  singular?: string;
}

/** CustomResourceDefinitionSpec describes how a user wants their resource to appear */
export interface CustomResourceDefinitionSpec {
  /** conversion defines conversion settings for the CRD. */
  conversion?: CustomResourceConversion;
  /** group is the API group of the defined custom resource. */
  group: string;
  /** names specify the resource and kind names for the custom resource. */
  names: CustomResourceDefinitionNames;
  /**
   * preserveUnknownFields indicates that object fields which are not specified in the OpenAPI schema should be
   * preserved when persisting to storage. apiVersion, kind, metadata and known fields inside metadata are always
   * preserved.
   */
  preserveUnknownFields?: boolean;
  /** scope indicates whether the defined custom resource is cluster- or namespace-scoped. */
  scope: string;
  /** versions is the list of all API versions of the defined custom resource. */
  versions: CustomResourceDefinitionVersion[];
}

/** CustomResourceDefinitionStatus indicates the state of the CustomResourceDefinition */
export interface CustomResourceDefinitionStatus {
  /** acceptedNames are the names that are actually being used to serve discovery. */
  acceptedNames?: CustomResourceDefinitionNames;
  /** conditions indicate state for particular aspects of a CustomResourceDefinition */
  conditions?: CustomResourceDefinitionCondition[];
  /** The generation observed by the CRD controller. */
  observedGeneration?: number;
  /** storedVersions lists all versions of CustomResources that were ever persisted. */
  storedVersions?: string[];
}

/** CustomResourceDefinitionVersion describes a version for CRD. */
export interface CustomResourceDefinitionVersion {
  /** additionalPrinterColumns specifies additional columns returned in Table output. */
  additionalPrinterColumns?: CustomResourceColumnDefinition[];
  /** deprecated indicates this version of the custom resource API is deprecated. */
  deprecated?: boolean;
  /** deprecationWarning overrides the default warning returned to API clients. */
  deprecationWarning?: string;
  /** name is the version name, e.g. “v1”, “v2beta1”, etc. */
  name: string;
  /**
   * schema describes the schema used for validation, pruning, and defaulting of this version of the custom
   * resource.
   */
  schema?: CustomResourceValidation;
  /** selectableFields specifies paths to fields that may be used as field selectors. */
  selectableFields?: SelectableField[];
  /** served is a flag enabling/disabling this version from being served via REST APIs */
  served: boolean;
  /** storage indicates this version should be used when persisting custom resources to storage. */
  storage: boolean;
  /** subresources specify what subresources this version of the defined custom resource have. */
  subresources?: CustomResourceSubresources;
}

/** CustomResourceSubresourceScale defines how to serve the scale subresource for CustomResources. */
export interface CustomResourceSubresourceScale {
  /**
   * labelSelectorPath defines the JSON path inside of a custom resource that corresponds to Scale
   * `status.selector`.
   */
  labelSelectorPath?: string;
  /** specReplicasPath defines the JSON path inside of a custom resource that corresponds to Scale `spec.replicas`. */
  specReplicasPath: string;
  /**
   * statusReplicasPath defines the JSON path inside of a custom resource that corresponds to Scale
   * `status.replicas`.
   */
  statusReplicasPath: string;
}

/** CustomResourceSubresourceStatus defines how to serve the status subresource for CustomResources. */
export type CustomResourceSubresourceStatus = { [field: string]: unknown };

/** CustomResourceSubresources defines the status and scale subresources for CustomResources. */
export interface CustomResourceSubresources {
  /**
   * scale indicates the custom resource should serve a `/scale` subresource that returns an `autoscaling/v1` Scale
   * object.
   */
  scale?: CustomResourceSubresourceScale;
  /** status indicates the custom resource should serve a `/status` subresource. */
  status?: CustomResourceSubresourceStatus;
}

/** CustomResourceValidation is a list of validation methods for CustomResources. */
export interface CustomResourceValidation {
  /** openAPIV3Schema is the OpenAPI v3 schema to use for validation and pruning. */
  openAPIV3Schema?: JSONSchemaProps;
}

/** ExternalDocumentation allows referencing an external resource for extended documentation. */
export interface ExternalDocumentation {
  description?: string;
  url?: string;
}

/** JSON represents any valid JSON value. */
export type JSON = unknown;

/** JSONSchemaProps is a JSON-Schema following Specification Draft 4 (http://json-schema.org/). */
export interface JSONSchemaProps {
  $ref?: string;
  $schema?: string;
  additionalItems?: JSONSchemaPropsOrBool;
  additionalProperties?: JSONSchemaPropsOrBool;
  allOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  /** default is a default value for undefined object fields. */
  default?: JSON;
  definitions?: { [key: string]: JSONSchemaProps };
  dependencies?: { [key: string]: JSONSchemaPropsOrStringArray };
  description?: string;
  enum?: JSON[];
  example?: JSON;
  exclusiveMaximum?: boolean;
  exclusiveMinimum?: boolean;
  externalDocs?: ExternalDocumentation;
  /** format is an OpenAPI v3 format string. */
  format?: string;
  id?: string;
  items?: JSONSchemaPropsOrArray;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
  maximum?: number;
  minItems?: number;
  minLength?: number;
  minProperties?: number;
  minimum?: number;
  multipleOf?: number;
  not?: JSONSchemaProps;
  nullable?: boolean;
  oneOf?: JSONSchemaProps[];
  pattern?: string;
  patternProperties?: { [key: string]: JSONSchemaProps };
  properties?: { [key: string]: JSONSchemaProps };
  required?: string[];
  title?: string;
  type?: string;
  uniqueItems?: boolean;
  /**
   * x-kubernetes-embedded-resource defines that the value is an embedded Kubernetes runtime.Object, with TypeMeta
   * and ObjectMeta.
   */
  'x-kubernetes-embedded-resource'?: boolean;
  /** x-kubernetes-int-or-string specifies that this value is either an integer or a string. */
  'x-kubernetes-int-or-string'?: boolean;
  /**
   * x-kubernetes-list-map-keys annotates an array with the x-kubernetes-list-type `map` by specifying the keys
   * used as the index of the map.
   */
  'x-kubernetes-list-map-keys'?: string[];
  /** x-kubernetes-list-type annotates an array to further describe its topology. */
  'x-kubernetes-list-type'?: string;
  /** x-kubernetes-map-type annotates an object to further describe its topology. */
  'x-kubernetes-map-type'?: string;
  /**
   * x-kubernetes-preserve-unknown-fields stops the API server decoding step from pruning fields which are not
   * specified in the validation schema.
   */
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  /** x-kubernetes-validations describes a list of validation rules written in the CEL expression language. */
  'x-kubernetes-validations'?: ValidationRule[];
}

/** JSONSchemaPropsOrArray represents a value that can either be a JSONSchemaProps or an array of JSONSchemaProps. */
export type JSONSchemaPropsOrArray = JSONSchemaProps | JSONSchemaProps[];

/** JSONSchemaPropsOrBool represents JSONSchemaProps or a boolean value. */
export type JSONSchemaPropsOrBool = JSONSchemaProps | boolean;

/** JSONSchemaPropsOrStringArray represents a JSONSchemaProps or a string array. */
export type JSONSchemaPropsOrStringArray = JSONSchemaProps | string[];

/** SelectableField specifies the JSON path of a field that may be used with field selectors. */
export interface SelectableField {
  /**
   * jsonPath is a simple JSON path which is evaluated against each custom resource to produce a field selector
   * value.
   */
  jsonPath: string;
}

/** ServiceReference holds a reference to Service.legacy.k8s.io */
export interface ServiceReference {
  /** name is the name of the service. */
  name: string;
  /** namespace is the namespace of the service. */
  namespace: string;
  /** path is an optional URL path at which the webhook will be contacted. */
  path?: string;
  /** port is an optional service port at which the webhook will be contacted. */
  port?: number;
}

/** ValidationRule describes a validation rule written in the CEL expression language. */
export interface ValidationRule {
  /** fieldPath represents the field path returned when the validation fails. */
  fieldPath?: string;
  /** Message represents the message displayed when validation fails. */
  message?: string;
  /**
   * MessageExpression declares a CEL expression that evaluates to the validation failure message that is returned
   * when this rule fails.
   */
  messageExpression?: string;
  /**
   * optionalOldSelf is used to opt a transition rule into evaluation even when the object is first created, or if
   * the old object is missing the value.
   */
  optionalOldSelf?: boolean;
  /**
   * reason provides a machine-readable validation failure reason that is returned to the caller when a request
   * fails this validation rule.
   */
  reason?: 'FieldValueDuplicate' | 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired';
  /**
   * Rule represents the expression which will be evaluated by CEL. ref: https://github.com/google/cel-spec The
   * Rule is scoped to the location of the x-kubernetes-validations extension in the schema.
   */
  rule: string;
}

/** WebhookClientConfig contains the information to make a TLS connection with the webhook. */
export interface WebhookClientConfig {
  /** caBundle is a PEM encoded CA bundle which will be used to validate the webhook's server certificate. */
  caBundle?: string;
  /** service is a reference to the service for this webhook. */
  service?: ServiceReference;
  /** url gives the location of the webhook, in standard URL form (`scheme://host:port/path`). */
  url?: string;
}

/** WebhookConversion describes how to call a conversion webhook */
export interface WebhookConversion {
  /** clientConfig is the instructions for how to call the webhook if strategy is `Webhook`. */
  clientConfig?: WebhookClientConfig;
  /** conversionReviewVersions is an ordered list of preferred `ConversionReview` versions the Webhook expects. */
  conversionReviewVersions: string[];
}
