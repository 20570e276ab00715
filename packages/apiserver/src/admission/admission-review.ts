/** `AdmissionReview`: what is asked, and whether the answer makes sense. */
import { randomUUID } from 'node:crypto';
import { getOwn, isMapping, type Mapping } from '@kopf-ts/core';
import type { AdmissionAttributes } from '../contracts/admission.js';
import type { ServedObject } from '../contracts/objects.js';
import type { ResourceInfo } from '../contracts/resource.js';
import { goQuote } from '../text/go-text.js';
import type { Hook } from './hooks.js';
import { namespaceOf } from './matching.js';

export interface Review {
  readonly uid: string;
  readonly apiVersion: string;
  readonly body: Mapping;
}

/** What a webhook has decided. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly status: Mapping | undefined;
  readonly warnings: readonly string[];
  /** Decoded from base64, not parsed yet; empty if there is none. */
  readonly patch: string;
  readonly patchType: string;
}

/** A webhook that could not be asked, or gave no proper answer. The failure policy decides what follows. */
export class HookFailure extends Error {}

/** Objects are given in the version in which the webhook wants to see them. */
export function composeReview(
  hook: Hook,
  attributes: AdmissionAttributes,
  resource: ResourceInfo,
  convert: (object: ServedObject) => ServedObject,
): Review {
  const version = hook.reviewVersions.find((known) => known === 'v1' || known === 'v1beta1');
  if (version === undefined) {
    throw new HookFailure(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  }
  const uid = randomUUID();
  const apiVersion = `admission.k8s.io/${version}`;
  const { object, oldObject, subresource, userInfo, operation, dryRun, options, name } = attributes;
  const namespace = namespaceOf(attributes);
  const request: Mapping = {
    uid,
    kind: attributes.kind ?? kindOf(resource),
    resource: resourceOf(resource),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: attributes.kind ?? kindOf(attributes.resource),
    requestResource: resourceOf(attributes.resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      username: userInfo.username,
      ...(userInfo.uid === undefined || userInfo.uid === '' ? {} : { uid: userInfo.uid }),
      ...(userInfo.groups.length === 0 ? {} : { groups: userInfo.groups }),
      ...(userInfo.extra === undefined || Object.keys(userInfo.extra).length === 0 ? {} : { extra: userInfo.extra }),
    },
    object: object === undefined ? null : convert(object),
    oldObject: oldObject === undefined ? null : convert(oldObject),
    dryRun,
    options,
  };
  return { uid, apiVersion, body: { kind: 'AdmissionReview', apiVersion, request } };
}

const kindOf = ({ group, version, kind }: ResourceInfo): object => ({ group, version, kind });
const resourceOf = ({ group, version, plural }: ResourceInfo): object => ({ group, version, resource: plural });

/** Reads the answer of a webhook. */
export function readDecision(answer: unknown, review: Review, isMutating: boolean): Decision {
  const data: Mapping = isMapping(answer) ? answer : {};
  const isV1 = review.apiVersion.endsWith('/v1');
  const [given, expected] = [String(getOwn(data, 'apiVersion') ?? ''), review.apiVersion];
  if (getOwn(data, 'kind') !== 'AdmissionReview' || given !== expected)
    throw new HookFailure(wrongKind(data, expected));
  const response = getOwn(data, 'response');
  if (!isMapping(response)) throw invalidResponse('webhook response was absent');
  const uid = String(getOwn(response, 'uid') ?? '');
  if (isV1 && uid !== review.uid) {
    throw invalidResponse(`expected response.uid=${goQuote(review.uid)}, got ${goQuote(uid)}`);
  }
  const patch = String(getOwn(response, 'patch') ?? '');
  const patchType = getOwn(response, 'patchType') ?? undefined;
  if (isV1 && isMutating) {
    if (patch !== '' && patchType === undefined) {
      throw invalidResponse('webhook returned response.patch but not response.patchType');
    }
    if (patch === '' && patchType !== undefined) {
      throw invalidResponse('webhook returned response.patchType but not response.patch');
    }
    if (patchType === '') throw invalidResponse('webhook returned invalid response.patchType of ""');
  } else if (isV1) {
    if (patch !== '') throw invalidResponse('validating webhook may not return response.patch');
    if (patchType !== undefined) throw invalidResponse('validating webhook may not return response.patchType');
  }
  const warnings = getOwn(response, 'warnings');
  const status = getOwn(response, 'status');
  return {
    isAllowed: getOwn(response, 'allowed') === true,
    status: isMapping(status) ? status : undefined,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    patch: isMutating ? Buffer.from(patch, 'base64').toString('utf8') : '',
    patchType: isV1 ? String(patchType ?? '') : 'JSONPatch',
  };
}

const invalidResponse = (why: string): HookFailure => new HookFailure(`received invalid webhook response: ${why}`);

function wrongKind(data: Mapping, expected: string): string {
  const [apiVersion, kind] = [String(getOwn(data, 'apiVersion') ?? ''), String(getOwn(data, 'kind') ?? '')];
  const prefix = 'failed to call webhook:';
  if (kind === '') return `${prefix} Object 'Kind' is missing in '${JSON.stringify(data)}'`;
  if (apiVersion === '') return `${prefix} Object 'apiVersion' is missing in '${JSON.stringify(data)}'`;
  if (kind === 'AdmissionReview' && /^admission\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    const short = (version: string): string => version.replace(/^.*\//, '');
    return `${prefix} converting (${short(apiVersion)}.AdmissionReview) to (${short(expected)}.AdmissionReview): unknown conversion`;
  }
  return `${prefix} no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`;
}
