/** Tokens of service accounts on request: `serviceaccounts/NAME/token`. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import type { BoundKind, ServiceAccountTokens } from '../../../contracts/authentication.js';
import type { Cause } from '../../../contracts/objects.js';
import type { ApiAnswer } from '../../../contracts/request.js';
import type { Revision } from '../../../contracts/store.js';
import { parseWriteOptions, type WriteOptions } from '../../../http/query-options.js';
import { readObject } from '../../../http/request-bodies.js';
import { badRequest, conflict, invalid, notFound } from '../../../http/status-errors.js';
import { type Backend, type Call, jsonAnswer, timestampOf } from '../../../routing/backend.js';
import { ISSUER } from '../../../server/service-account-tokens.js';
import { invalidValue } from '../../../text/field-causes.js';
import { goQuote } from '../../../text/go-text.js';
import { DecodingError } from '../../../typed/decode.js';
import { admitByNamespace } from '../admitting.js';
import { managersOfNew } from '../field-managers.js';
import { typeProblem } from '../requested-object.js';

const GROUP = 'authentication.k8s.io';
const API_VERSION = `${GROUP}/v1`;
const KIND = 'TokenRequest';
const AN_HOUR = 3600;
const SHORTEST = 600;
const LONGEST = 2 ** 32;

interface Spec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
  readonly boundObjectRef?: BoundReference | null;
}

interface BoundReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

export async function requestToken(backend: Backend, call: Call): Promise<ApiAnswer> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const request = await readTokenRequest(backend, call, options);
  const metadata = isMapping(request.metadata) ? request.metadata : {};
  checkNamespace(call, metadata);
  admitByNamespace(backend, call, { operation: 'CREATE', object: undefined, oldObject: undefined, options });
  const account = backend.store.get(call.served.collection, call.namespace, call.name);
  if (account === undefined) throw notFound(call.served, call.name);
  checkName(call, metadata);
  const spec = (isMapping(request.spec) ? request.spec : {}) as Spec;
  const seconds = spec.expirationSeconds ?? AN_HOUR;
  const { audiences: wanted } = spec;
  const audiences = wanted === undefined || wanted === null || wanted.length === 0 ? [ISSUER] : wanted;
  checkDuration(seconds);
  const bound = boundObject(backend, call, spec.boundObjectRef ?? undefined);
  const { token, expires } = backend.serviceAccounts.issue({
    namespace: call.namespace,
    account: { name: account.name, uid: account.uid },
    audiences,
    seconds,
    ...(bound === undefined ? {} : { bound }),
  });
  const { name, namespace, uid, creationTimestamp, ...others } = metadata;
  const managedFields = managersOfNew(
    { typeName: 'authentication.TokenRequest', apiVersion: API_VERSION, subresource: 'token' },
    call.request,
    {
      live: backend.decode('authentication.TokenRequest', { metadata: {} }).object,
      object: { ...request, spec: { ...spec, expirationSeconds: seconds } },
    },
    backend.clock.utc(),
  );
  const body = {
    kind: KIND,
    apiVersion: API_VERSION,
    metadata: {
      name: account.name,
      namespace: account.namespace,
      uid: account.uid,
      creationTimestamp: timestampOf(backend.clock.utc()),
      ...others,
      managedFields,
    },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: timestampOf(expires) },
  };
  return jsonAnswer(201, JSON.stringify(body));
}

async function readTokenRequest(backend: Backend, call: Call, options: WriteOptions): Promise<Mapping> {
  const raw = await readObject(call.request, KIND);
  const problem = typeProblem(backend, { ...call, served: { ...call.served, ...TYPE } }, raw);
  const title = `${String(raw.kind ?? KIND)} in version "${String(raw.apiVersion ?? 'v1').replace(/^.*\//, '')}"`;
  try {
    if (problem !== undefined) throw new DecodingError(problem);
    const { object, unknownFields } = backend.decode('authentication.TokenRequest', raw);
    const told = unknownFields.map((path) => `unknown field "${path}"`);
    if (options.fieldValidation === 'Strict' && told.length > 0) {
      throw new DecodingError(`strict decoding error: ${told.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn') call.warnings.push(...told);
    return object;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw badRequest(`${title} cannot be handled as a ${KIND}: ${error.message}`);
  }
}

const TYPE = { group: GROUP, apiVersion: API_VERSION, kind: KIND };

function checkNamespace({ namespace }: Call, metadata: Mapping): void {
  const given = metadata.namespace ?? '';
  if (given === '' || given === namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function checkName({ name }: Call, metadata: Mapping): void {
  const given = metadata.name ?? '';
  if (given === '' || given === name) return;
  refuse(name, invalidValue('metadata.name', given, 'must match the service account name if specified'));
}

function checkDuration(seconds: number): void {
  const path = 'spec.expirationSeconds';
  if (seconds < SHORTEST) refuse('', invalidValue(path, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > LONGEST) refuse('', invalidValue(path, seconds, 'may not specify a duration larger than 2^32 seconds'));
}

function refuse(name: string, cause: Cause): never {
  throw invalid({ group: GROUP, kind: KIND }, name, [cause]);
}

const BOUND: Readonly<Record<string, BoundKind>> = { Pod: 'pod', Secret: 'secret', Node: 'node' };

type Bound = Parameters<ServiceAccountTokens['issue']>[0]['bound'];

/** The object with which the token ends. */
function boundObject(backend: Backend, call: Call, reference: BoundReference | undefined): Bound {
  if (reference === undefined) return undefined;
  const { kind = '', apiVersion = '', name = '', uid = '' } = reference;
  const bound = apiVersion === 'v1' ? BOUND[kind] : undefined;
  if (bound === undefined) {
    const slash = apiVersion.indexOf('/');
    const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)];
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const object = backend.store.get(`${bound}s`, bound === 'node' ? '' : call.namespace, name);
  if (object === undefined) throw notFound({ group: '', plural: `${bound}s` }, name);
  if (bound === 'pod') checkAccountOfPod(call, object);
  if (uid !== '' && uid !== object.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural: kind }, name, why);
  }
  return { kind: bound, name, uid: object.uid };
}

function checkAccountOfPod({ name }: Call, pod: Revision): void {
  const { spec } = JSON.parse(pod.json) as { readonly spec?: { readonly serviceAccountName?: string } };
  if (spec?.serviceAccountName === name) return;
  throw badRequest(
    `cannot bind token for serviceaccount ${goQuote(name)} to pod running with different serviceaccount name.`,
  );
}
