/** Refusals of access, in the words of the real server. */
import type { Access } from '../contracts/authorization.js';
import type { UserInfo } from '../contracts/objects.js';
import { StatusError } from '../http/status-errors.js';
import { goQuote } from '../text/go-text.js';

export function accessForbidden(user: UserInfo, access: Access, reason = ''): StatusError {
  const who = `User ${goQuote(user.username)} cannot ${access.verb}`;
  const why = reason === '' ? '' : `: ${reason}`;
  if (access.kind === 'path') {
    return new StatusError(403, 'Forbidden', `forbidden: ${who} path ${goQuote(access.path)}${why}`, {});
  }
  const { group, resource, subresource, namespace, name } = access;
  const what = goQuote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  const title = `${group === '' ? resource : `${resource}.${group}`}${name === '' ? '' : ` ${goQuote(name)}`}`;
  return new StatusError(
    403,
    'Forbidden',
    `${title} is forbidden: ${who} resource ${what} in API group ${goQuote(group)} ${where}${why}`,
    { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  );
}
