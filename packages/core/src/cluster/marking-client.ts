/** Traces that travel on objects: what a handler creates is marked with the trace that the handler is a part of. */
import { ApiNotFoundError } from '../errors.js';
import type { KubeClient, KubeRequest } from '../seams/client.js';
import type { Tracing } from '../seams/inspection/tracing.js';
import { isMapping, type Mapping } from '../values/json.js';
import type { AnyObject } from '../values/objects/body.js';
import { isTraceMark, TRACE_ANNOTATION, traceMarkOf } from '../values/objects/trace-marks.js';

/**
 * The same client, but new objects get the mark of the tracing, if there is one at that moment. Existing ones keep what they have:
 * a mark that is new each time would make a change of what is none. An applied object may be new or not: it is looked
 * for, with one request more.
 */
export function markingClient(client: KubeClient, tracing: Pick<Tracing, 'mark'>): KubeClient {
  const { text, connect } = client;
  return {
    request<T>(request: KubeRequest): Promise<T> {
      const way = wayOf(request);
      if (way === undefined) return client.request<T>(request);
      const mark = tracing.mark?.();
      if (!isTraceMark(mark)) return client.request<T>(request);
      if (way === 'create') return client.request<T>(marked(request, mark));
      return existing(client, request).then((found) => {
        const kept = found === 'absent' ? mark : found && traceMarkOf(found);
        return client.request<T>(kept === undefined ? request : marked(request, kept));
      });
    },
    stream: (request) => client.stream(request),
    ...(text && { text: (request) => text.call(client, request) }),
    ...(connect && { connect: (request) => connect.call(client, request) }),
  };
}

/** `undefined` if no object can come to be by it, or none that anybody handles. */
function wayOf({ method, path, contentType, body }: KubeRequest): 'create' | 'apply' | undefined {
  if (method !== 'POST' && contentType !== 'application/apply-patch+yaml') return undefined;
  if (!isMapping(body) || hasMark(body) || isOnlyTold(body)) return undefined;
  const [named, ...more] = withoutNamespace(path);
  if (named === undefined || more.length > 1) return undefined;
  if (method === 'POST') return more.length === 0 ? 'create' : undefined;
  return method === 'PATCH' && more.length === 1 ? 'apply' : undefined;
}

/** The plural and whatever follows it. */
function withoutNamespace(path: string): readonly string[] {
  const [, ...steps] = (path.split('?', 1)[0] as string).split('/');
  const rest = steps[0] === 'api' ? steps.slice(2) : steps[0] === 'apis' ? steps.slice(3) : [];
  return rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
}

/** These are messages rather than objects. */
function isOnlyTold({ kind }: Mapping): boolean {
  return typeof kind === 'string' && (kind === 'Event' || kind.endsWith('Review') || kind.endsWith('List'));
}

function hasMark({ metadata }: Mapping): boolean {
  const annotations = isMapping(metadata) ? metadata['annotations'] : undefined;
  return isMapping(annotations) && Object.hasOwn(annotations, TRACE_ANNOTATION);
}

function marked(request: KubeRequest, mark: string): KubeRequest {
  const { metadata, ...rest } = request.body as AnyObject;
  const annotations = { ...metadata?.annotations, [TRACE_ANNOTATION]: mark };
  return { ...request, body: { ...rest, metadata: { ...metadata, annotations } } };
}

/** `undefined` if it is not to be known. The request itself will tell what is wrong, if it is wrong for that, too. */
async function existing(client: KubeClient, { path, signal }: KubeRequest): Promise<AnyObject | 'absent' | undefined> {
  const [plain = path] = path.split('?', 1);
  try {
    return await client.request<AnyObject>({ method: 'GET', path: plain, retries: 'unless-forbidden', signal });
  } catch (error) {
    return error instanceof ApiNotFoundError ? 'absent' : undefined;
  }
}
