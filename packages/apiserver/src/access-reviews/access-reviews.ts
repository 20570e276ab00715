/** Questions that are answered and not kept: who somebody is, and what they may do. */
import { isMapping, type Mapping } from '@kopf-ts/core';
import { textOfProblems } from '../authorization/rbac.js';
import type { Authenticator } from '../contracts/authentication.js';
import type { Access, Authorizer, Rule } from '../contracts/authorization.js';
import type { UserInfo } from '../contracts/objects.js';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';
import { parseWriteOptions } from '../http/query-options.js';
import { readObject } from '../http/request-bodies.js';
import { badRequest } from '../http/status-errors.js';
import { jsonAnswer, timestampOf } from '../routing/backend.js';
import type { AccessReview } from '../routing/discovery.js';
import { DecodingError, type TypedDecoder } from '../typed/decode.js';
import { managersOfNew } from '../verbs/write/field-managers.js';
import { checkAccessReview } from './access-review-rules.js';

const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';

const review = (group: string, kind: string, plural: string, namespaced = false): AccessReview => ({
  group,
  version: 'v1',
  plural,
  singular: kind.toLowerCase(),
  kind,
  namespaced,
});

export const accessReviews: readonly AccessReview[] = [
  review(AUTHENTICATION, 'SelfSubjectReview', 'selfsubjectreviews'),
  review(AUTHENTICATION, 'TokenReview', 'tokenreviews'),
  review(AUTHORIZATION, 'LocalSubjectAccessReview', 'localsubjectaccessreviews', true),
  review(AUTHORIZATION, 'SelfSubjectAccessReview', 'selfsubjectaccessreviews'),
  review(AUTHORIZATION, 'SelfSubjectRulesReview', 'selfsubjectrulesreviews'),
  review(AUTHORIZATION, 'SubjectAccessReview', 'subjectaccessreviews'),
];

export interface AccessReviewContext {
  readonly decode: TypedDecoder;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly now: () => Date;
  /** Is this a built-in kind? */
  isKnown(group: string, version: string, kind: string): boolean;
}

/** The question itself with the answer in its status. */
export async function answerAccessReview(
  one: AccessReview,
  namespace: string,
  request: ApiRequest,
  warnings: string[],
  context: AccessReviewContext,
): Promise<ApiAnswer> {
  const typeName = `${one.group.split('.')[0]}.${one.kind}`;
  const question = await questionIn(one, typeName, request, warnings, context);
  const metadata = settledMetadata(question, namespace);
  const live = context.decode(typeName, { metadata: {} }).object;
  const managers = managersOfNew(
    { typeName, apiVersion: `${one.group}/v1` },
    request,
    { live, object: question },
    context.now(),
  );
  if (managers.length > 0) metadata.managedFields = managers;
  checkAccessReview(one, { ...question, metadata });
  const body = {
    kind: one.kind,
    apiVersion: `${one.group}/v1`,
    ...shownQuestion(one, { ...question, metadata }, context),
    status: statusOf(one, question, request.user, context),
  };
  return jsonAnswer(201, JSON.stringify(body));
}

async function questionIn(
  one: AccessReview,
  typeName: string,
  request: ApiRequest,
  warnings: string[],
  context: AccessReviewContext,
): Promise<Mapping> {
  const { fieldValidation } = parseWriteOptions(new URL(request.url, 'http://localhost').searchParams, 'CreateOptions');
  const raw = await readObject(request, one.kind);
  const [apiVersion, kind] = [text(raw.apiVersion) || `${one.group}/v1`, text(raw.kind) || one.kind];
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  try {
    if (apiVersion !== `${one.group}/v1` || kind !== one.kind) throw new DecodingError(problemOf(context));
    const { object, unknownFields } = context.decode(typeName, raw);
    const told = unknownFields.map((path) => `unknown field "${path}"`);
    if (fieldValidation === 'Strict' && told.length > 0) {
      throw new DecodingError(`strict decoding error: ${told.join(', ')}`);
    }
    if (fieldValidation === 'Warn') warnings.push(...told);
    return object;
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${one.kind}: ${error.message}`);
  }

  function problemOf({ isKnown }: AccessReviewContext): string {
    const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
    const isReview = accessReviews.some((known) => `${known.group}/v1` === apiVersion && known.kind === kind);
    if (isReview || isKnown(group, version, kind)) {
      return `converting (${version}.${kind}) to (${typeName}): unknown conversion`;
    }
    return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  }
}

/** What only the server may say is dropped, and the namespace is that of the request. */
function settledMetadata(question: Mapping, namespace: string): Mapping {
  const { metadata } = question;
  const { creationTimestamp, deletionTimestamp, uid, selfLink, managedFields, ...rest } = isMapping(metadata)
    ? metadata
    : {};
  const given = rest.namespace ?? '';
  if (namespace !== '' && given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  delete rest.namespace;
  if (namespace === '') return rest;
  const { name, generateName, ...others } = rest;
  return {
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
    namespace,
    ...others,
  };
}

/** Questions about the asker are answered anew: nothing of them is repeated. */
function shownQuestion(one: AccessReview, { metadata, spec }: Mapping, { now }: AccessReviewContext): Mapping {
  if (one.kind === 'SelfSubjectReview') return { metadata: { creationTimestamp: timestampOf(now()) } };
  if (one.kind === 'SelfSubjectRulesReview') return { metadata: {}, spec: {} };
  return { metadata, ...(spec === undefined ? {} : { spec }) };
}

function statusOf(
  one: AccessReview,
  question: Mapping,
  user: UserInfo,
  { authenticator, authorizer }: AccessReviewContext,
): Mapping {
  const spec = isMapping(question.spec) ? question.spec : {};
  switch (one.kind) {
    case 'SelfSubjectReview':
      return { userInfo: userData(user) };
    case 'TokenReview': {
      const { user: found, audiences, error } = authenticator.reviewToken(String(spec.token), texts(spec.audiences));
      return found === undefined ? { user: {}, error } : { authenticated: true, user: userData(found), audiences };
    }
    case 'SelfSubjectRulesReview':
      return rulesOf(authorizer, user, String(spec.namespace));
    default: {
      const asked = one.kind === 'SelfSubjectAccessReview' ? user : userIn(spec);
      const { isAllowed, reason } = authorizer.decide(asked, accessIn(spec));
      return { allowed: isAllowed, ...(reason === '' ? {} : { reason }) };
    }
  }
}

function rulesOf(authorizer: Authorizer, user: UserInfo, namespace: string): Mapping {
  const { rules, problems } = authorizer.rulesOf(user, namespace);
  const isOfPaths = ({ nonResourceURLs = [] }: Rule): boolean => nonResourceURLs.length > 0;
  return {
    resourceRules: rules
      .filter((rule) => !isOfPaths(rule))
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames })),
    nonResourceRules: rules.filter(isOfPaths).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(problems.length === 0 ? {} : { evaluationError: textOfProblems(problems) }),
  };
}

function userIn({ user, uid, groups, extra }: Mapping): UserInfo {
  return {
    username: text(user),
    groups: texts(groups),
    ...(text(uid) === '' ? {} : { uid: text(uid) }),
    ...(isMapping(extra) ? { extra: extra as Record<string, readonly string[]> } : {}),
  };
}

function accessIn({ resourceAttributes, nonResourceAttributes }: Mapping): Access {
  if (isMapping(nonResourceAttributes)) {
    const { path, verb } = nonResourceAttributes;
    return { kind: 'path', verb: text(verb), path: text(path) };
  }
  const { verb, group, resource, subresource, namespace, name } = isMapping(resourceAttributes)
    ? resourceAttributes
    : {};
  return {
    kind: 'resource',
    verb: text(verb),
    group: text(group),
    resource: text(resource),
    subresource: text(subresource),
    namespace: text(namespace),
    name: text(name),
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(text) : []);

function userData({ username, uid, groups, extra }: UserInfo): Mapping {
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}
