/**
 * The kinds of authentication.k8s.io/v1, and what they are made of.
 *
 * Written by `npm run schemas`, by what Kubernetes 1.36 says of itself; not to be edited by hand.
 */
import type { ResourceToken } from '@kopf-ts/core';
import type { ObjectMeta } from '../../meta.k8s.io/v1/index.js';

/**
 * SelfSubjectReview contains the user information that the kube-apiserver has about the user making this
 * request.
 */
export interface SelfSubjectReview {
  apiVersion?: 'authentication.k8s.io/v1';
  kind?: 'SelfSubjectReview';
  /** metadata is standard object's metadata. */
  metadata: ObjectMeta;
  /** status is filled in by the server with the user attributes. */
  status?: SelfSubjectReviewStatus;
}
/** The selfsubjectreviews of `authentication.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const SelfSubjectReview: ResourceToken<SelfSubjectReview, undefined> = { selector: { group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews' }, namespaced: false };

/** TokenReview attempts to authenticate a token to a known user. */
export interface TokenReview {
  apiVersion?: 'authentication.k8s.io/v1';
  kind?: 'TokenReview';
  /** metadata is the standard object's metadata. */
  metadata: ObjectMeta;
  /** spec holds information about the request being evaluated */
  spec: TokenReviewSpec;
  /** status is filled in by the server and indicates whether the request can be authenticated. */
  status?: TokenReviewStatus;
}
/** The tokenreviews of `authentication.k8s.io/v1`. They are of the cluster, and not in namespaces. */
export const TokenReview: ResourceToken<TokenReview, undefined> = { selector: { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews' }, namespaced: false };

/** SelfSubjectReviewStatus is filled by the kube-apiserver and sent back to a user. */
export interface SelfSubjectReviewStatus {
  /** userInfo is a set of attributes belonging to the user making this request. */
  userInfo?: UserInfo;
}

/** TokenReviewSpec is a description of the token authentication request. */
export interface TokenReviewSpec {
  /** audiences is a list of the identifiers that the resource server presented with the token identifies as. */
  audiences?: string[];
  /** token is the opaque bearer token. */
  token: string;
}

/** TokenReviewStatus is the result of the token authentication request. */
export interface TokenReviewStatus {
  /**
   * audiences are audience identifiers chosen by the authenticator that are compatible with both the TokenReview
   * and token.
   */
  audiences?: string[];
  /** authenticated indicates that the token was associated with a known user. */
  authenticated?: boolean;
  /** error indicates that the token couldn't be checked */
  error?: string;
  /** user is the UserInfo associated with the provided token. */
  user?: UserInfo;
}

/** UserInfo holds the information about the user needed to implement the user.Info interface. */
export interface UserInfo {
  /** extra is any additional information provided by the authenticator. */
  extra?: { [key: string]: string[] };
  /** groups is the names of groups this user is a part of. */
  groups?: string[];
  /** uid is a unique value that identifies this user across time. */
  uid?: string;
  /** username is the name that uniquely identifies this user among all active users. */
  username?: string;
}
