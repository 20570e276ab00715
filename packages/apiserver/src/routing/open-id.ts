/** How others than this server can check the tokens of its service accounts, as OpenID Connect has it. */
import type { ServiceAccountTokens } from '../contracts/authentication.js';
import type { ApiAnswer, ApiRequest } from '../contracts/request.js';
import { StatusError } from '../http/status-errors.js';
import { ISSUER } from '../server/service-account-tokens.js';
import { methodNotAllowed } from '../verbs/dispatch.js';

export interface OpenIdDocuments {
  /** `undefined` if the path is not one of ours. */
  answer(request: ApiRequest, segments: readonly string[]): ApiAnswer | undefined;
}

const KEYS = '/openid/v1/jwks';
const CONFIGURATION = '/.well-known/openid-configuration';
const KEY_SET = 'application/jwk-set+json';
const JSON_TYPE = 'application/json';

export function openIdDocuments(tokens: ServiceAccountTokens, url: () => string): OpenIdDocuments {
  const configuration = (): object => ({
    issuer: ISSUER,
    jwks_uri: `${url()}${KEYS}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [tokens.algorithm],
  });
  const documents: Readonly<Record<string, { readonly type: string; readonly read: () => object }>> = {
    [KEYS]: { type: KEY_SET, read: () => tokens.publicKeys() },
    [CONFIGURATION]: { type: JSON_TYPE, read: configuration },
  };
  return {
    answer({ method, headers: { accept = '' } }, segments) {
      const document = documents[`/${segments.join('/')}`];
      if (document === undefined) return undefined;
      if (method !== 'GET') throw methodNotAllowed();
      const { type, read } = document;
      if (!isAccepted(accept, type)) {
        const why = `406: Not Acceptable\n\nAvailable representations: ${type}`;
        throw new StatusError(406, 'NotAcceptable', why, {});
      }
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=3600' };
      return { status: 200, headers, body: JSON.stringify(read()) };
    },
  };
}

function isAccepted(accept: string, type: string): boolean {
  const types = accept.split(',').map((clause) => clause.split(';')[0]?.trim());
  return accept === '' || types.includes(type) || types.includes('*/*') || types.includes('application/*');
}
