/** Tokens of service accounts: JWTs that the cluster signs and checks with a key of its own. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { type Clock, isMapping } from '@kopf-ts/core';
import { groupsOfAccount, usernameOfAccount, withAuthenticated } from '../authorization/users.js';
import type { BoundKind, Named, ServiceAccountTokens, TokenReview } from '../contracts/authentication.js';
import type { StoreReader } from '../contracts/store.js';
import { goQuote } from '../text/go-text.js';

/** Also the audience of tokens that are for the API server itself. */
export const ISSUER = 'https://kubernetes.default.svc';

interface Claims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly nbf: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: Named;
  } & Partial<Record<BoundKind, Named>>;
}

const COLLECTIONS: Readonly<Record<BoundKind, string>> = { pod: 'pods', secret: 'secrets', node: 'nodes' };

/** As many tokens are remembered as checked: signatures take more time than everything else. */
const REMEMBERED = 256;

/** With a key of an earlier life (in PEM), tokens from there are as good as new ones. */
export function serviceAccountTokens(store: StoreReader, clock: Clock, pem?: string): ServiceAccountTokens {
  let key: SigningKey | undefined;
  const getKey = (): SigningKey => {
    key ??= signingKey(pem ?? newSigningKey());
    return key;
  };
  const checked = new Map<string, Claims>();
  const now = (): number => Math.floor(clock.utc().getTime() / 1000);

  const claimsOf = (token: string): Claims | 'forged' | undefined => {
    const known = checked.get(token);
    if (known !== undefined) return known;
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    const claims = decoded(payload);
    if (signature === '' || more.length > 0 || claims?.iss !== ISSUER || !isMapping(claims['kubernetes.io']))
      return undefined;
    const { publicKey } = getKey();
    const data = Buffer.from(`${header}.${payload}`);
    const isOurs = verify(
      'sha256',
      data,
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    if (!isOurs) return 'forged';
    if (checked.size >= REMEMBERED) checked.clear();
    checked.set(token, claims as unknown as Claims);
    return claims as unknown as Claims;
  };

  return {
    algorithm: 'ES256',
    issue({ namespace, account, audiences, seconds, bound }) {
      const { privateKey, kid } = getKey();
      const iat = now();
      const claims: Claims & Readonly<Record<string, unknown>> = {
        aud: audiences,
        exp: iat + seconds,
        iat,
        iss: ISSUER,
        jti: randomUUID(),
        'kubernetes.io': {
          namespace,
          ...(bound === undefined ? {} : { [bound.kind]: { name: bound.name, uid: bound.uid } }),
          serviceaccount: account,
        },
        nbf: iat,
        sub: usernameOfAccount(namespace, account.name),
      };
      const data = `${encoded({ alg: 'ES256', kid })}.${encoded(claims)}`;
      const signature = sign('sha256', Buffer.from(data), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return { token: `${data}.${signature.toString('base64url')}`, expires: new Date((iat + seconds) * 1000) };
    },
    review(token, audiences) {
      const claims = claimsOf(token);
      if (claims === undefined) return undefined;
      if (claims === 'forged') return { error: 'go-jose/go-jose: error in cryptographic primitive' };
      const meant = claims.aud.filter((audience) => audiences.includes(audience));
      if (meant.length === 0) {
        const [given, wanted] = [claims.aud, audiences].map((list) => `[${list.map(goQuote).join(' ')}]`);
        return { error: `token audiences ${given} is invalid for the target audiences ${wanted}` };
      }
      const problem = problemOf(claims, store, now());
      return problem === undefined ? { user: userOf(claims), audiences: meant } : { error: problem };
    },
    publicKeys() {
      const { publicKey, kid } = getKey();
      const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
      return { keys: [{ use: 'sig', kty, kid, crv, alg: 'ES256', x, y }] };
    },
  };
}

interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly kid: string;
}

/** In PEM; on an elliptic curve: it is made in no time. */
export function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function signingKey(pem: string): SigningKey {
  const [privateKey, publicKey] = [createPrivateKey(pem), createPublicKey(pem)];
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { privateKey, publicKey, kid: createHash('sha256').update(der).digest('base64url') };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decoded(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A token is as good as the account and the object that it is bound to. */
function problemOf(claims: Claims, store: StoreReader, now: number): string | undefined {
  if (now > claims.exp) return 'service account token has expired';
  if (now < claims.nbf) return 'service account token is not valid yet';
  const { namespace, serviceaccount } = claims['kubernetes.io'];
  const account = store.get('serviceaccounts', namespace, serviceaccount.name);
  if (account === undefined) return `serviceaccounts ${goQuote(serviceaccount.name)} not found`;
  if (account.uid !== serviceaccount.uid) {
    return `service account UID (${account.uid}) does not match claim (${serviceaccount.uid})`;
  }
  for (const kind of Object.keys(COLLECTIONS) as BoundKind[]) {
    const bound = claims['kubernetes.io'][kind];
    if (bound === undefined) continue;
    const object = store.get(COLLECTIONS[kind], kind === 'node' ? '' : namespace, bound.name);
    if (object === undefined) return 'service account token has been invalidated';
    if (object.uid !== bound.uid)
      return `${kind} UID (${object.uid}) does not match service account ${kind} ref claim (${bound.uid})`;
  }
  return undefined;
}

function userOf(claims: Claims): NonNullable<TokenReview['user']> {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const named = (kind: BoundKind, object: Named | undefined): Record<string, readonly string[]> =>
    object === undefined
      ? {}
      : {
          [`authentication.kubernetes.io/${kind}-name`]: [object.name],
          [`authentication.kubernetes.io/${kind}-uid`]: [object.uid],
        };
  return {
    username: usernameOfAccount(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: withAuthenticated(groupsOfAccount(namespace)),
    extra: {
      'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
      ...named('node', node),
      ...named('pod', pod),
    },
  };
}
