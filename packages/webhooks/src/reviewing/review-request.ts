/**
 * Reading an admission review. It comes over the network, from anybody who can reach the server, so everything in it is
 * checked before it is used. What is wrong with it is the sender's fault, and the error says so.
 */
import {
  type AnyObject,
  type Body,
  getOwn,
  isMapping,
  type Mapping,
  MissingDataError,
  type UserInfo,
} from '@kopf-ts/core';

/** A review as it is understood. */
export interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly uid: string;
  /** As the webhook is registered for it, whatever the user has requested. */
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string };
  readonly subresource: string | undefined;
  readonly operation: string;
  readonly userinfo: UserInfo;
  readonly dryrun: boolean;
  readonly old: Body | undefined;
  readonly new: Body | undefined;
  /** The object as it is going to be; as it was, if it is not going to be. */
  readonly body: Body;
}

/** Reads the review; throws a {@link MissingDataError} if it is not one. */
export function readReview(source: unknown): Review {
  if (!isMapping(source)) throw wrong('the body', 'an AdmissionReview', source);
  const request = mappingIn(source, 'request', 'request');
  if (request === undefined) throw missing('request');
  const newObject = objectIn(request, 'object');
  const oldObject = objectIn(request, 'oldObject');
  const body = newObject ?? oldObject;
  const userinfo = mappingIn(request, 'userInfo', 'request.userInfo');
  if (userinfo === undefined) throw missing('request.userInfo');
  if (body === undefined) throw missing('request.object and request.oldObject');
  return {
    apiVersion: textIn(source, 'apiVersion', 'apiVersion') ?? 'admission.k8s.io/v1',
    kind: textIn(source, 'kind', 'kind') ?? 'AdmissionReview',
    uid: requiredTextIn(request, 'uid', 'request.uid'),
    resource: resourceIn(request),
    subresource: textIn(request, 'subResource', 'request.subResource') || undefined,
    operation: operationIn(request),
    userinfo,
    dryrun: flagIn(request, 'dryRun', 'request.dryRun'),
    old: oldObject,
    new: newObject,
    body,
  };
}

/** All that Kubernetes has. Handlers are declared for some of them: of another one, nobody would be asked. */
const OPERATIONS: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

function operationIn(request: Mapping): string {
  const operation = requiredTextIn(request, 'operation', 'request.operation');
  if (OPERATIONS.has(operation)) return operation;
  throw new MissingDataError(
    `The admission review is malformed: request.operation must be one of ${[...OPERATIONS].join(', ')}.`,
  );
}

function resourceIn(request: Mapping): Review['resource'] {
  const resource = mappingIn(request, 'resource', 'request.resource');
  if (resource === undefined) throw missing('request.resource');
  // The core group has an empty name; but the name is there all the same.
  const group = textIn(resource, 'group', 'request.resource.group');
  if (group === undefined) throw missing('request.resource.group');
  return {
    group,
    version: requiredTextIn(resource, 'version', 'request.resource.version'),
    plural: requiredTextIn(resource, 'resource', 'request.resource.resource'),
  };
}

/** An object with its identity being what it should be: the loggers and the memories go by it. */
function objectIn(request: Mapping, key: string): AnyObject | undefined {
  const path = `request.${key}`;
  const object = mappingIn(request, key, path);
  if (object === undefined) return undefined;
  for (const name of ['apiVersion', 'kind']) textIn(object, name, `${path}.${name}`);
  const metadata = mappingIn(object, 'metadata', `${path}.metadata`);
  if (metadata === undefined) return object;
  for (const name of ['name', 'namespace', 'uid']) textIn(metadata, name, `${path}.metadata.${name}`);
  for (const name of ['labels', 'annotations']) mappingIn(metadata, name, `${path}.metadata.${name}`);
  return object;
}

// Nulls are as good as nothing: Go writes them for what is empty.

function mappingIn(source: Mapping, key: string, path: string): Mapping | undefined {
  const value = getOwn(source, key) ?? undefined;
  if (value === undefined || isMapping(value)) return value;
  throw wrong(path, 'an object', value);
}

function textIn(source: Mapping, key: string, path: string): string | undefined {
  const value = getOwn(source, key) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw wrong(path, 'a text', value);
}

function requiredTextIn(source: Mapping, key: string, path: string): string {
  const text = textIn(source, key, path);
  if (text === undefined || text === '') throw missing(path);
  return text;
}

function flagIn(source: Mapping, key: string, path: string): boolean {
  const value = getOwn(source, key) ?? false;
  if (typeof value === 'boolean') return value;
  throw wrong(path, 'true or false', value);
}

function missing(path: string): MissingDataError {
  return new MissingDataError(`The admission review has no ${path}.`);
}

/** Values are not shown: they can be of any size, and of any secrecy. */
function wrong(path: string, expected: string, value: unknown): MissingDataError {
  const found = Array.isArray(value) ? 'a list' : value === null ? 'null' : `of type "${typeof value}"`;
  return new MissingDataError(`The admission review is malformed: ${path} must be ${expected}, but is ${found}.`);
}
