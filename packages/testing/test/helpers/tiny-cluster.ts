/**
 * Just enough of an API server for the suite of clients: ConfigMaps of one namespace, and their watching.
 * Nothing here is about Kubernetes as such; there is `@kopf-ts/apiserver` for that.
 */
export interface TinyRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  /** As it came over the wire. */
  readonly body?: string | undefined;
}

export interface TinyAnswer {
  readonly status: number;
  readonly text: string;
}

export interface TinyWatch {
  readonly after: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number | undefined;
}

interface TinyObject {
  metadata: { name: string; uid?: string; resourceVersion?: string; labels?: Record<string, string> };
  data?: Record<string, string>;
}

const COLLECTION = '/api/v1/namespaces/default/configmaps';

export class TinyCluster {
  readonly #objects = new Map<string, TinyObject>();
  readonly #events: { readonly version: number; readonly type: string; readonly object: TinyObject }[] = [];
  readonly #listeners = new Set<() => void>();
  #version = 1;

  /** An answer at once, or something to be watched. */
  handle(request: TinyRequest): TinyAnswer | TinyWatch {
    const url = new URL(request.path, 'http://tiny');
    const query = url.searchParams;
    if (url.pathname === '/apis') {
      const isAggregated = request.accept?.includes('APIGroupDiscoveryList');
      return ok({ kind: isAggregated ? 'APIGroupDiscoveryList' : 'APIGroupList' });
    }
    if (!url.pathname.startsWith(COLLECTION)) return { status: 404, text: '404 page not found\n' };
    const name = url.pathname.slice(COLLECTION.length + 1);
    const labels = labelsOf(query.get('labelSelector'));
    if (labels === undefined) return refused(400, 'BadRequest', 'unable to parse requirement');
    if (name !== '') return this.#handleOne(request, name);
    if (request.method === 'POST') return this.#create(JSON.parse(request.body ?? '{}'));
    if (query.get('watch') === 'true') {
      const seconds = query.get('timeoutSeconds');
      const after = Number(query.get('resourceVersion') ?? this.#version);
      return { after, labels, timeoutSeconds: seconds === null ? undefined : Number(seconds) };
    }
    const items = [...this.#objects.values()].filter((object) => matches(object, labels));
    return ok({ kind: 'ConfigMapList', metadata: { resourceVersion: String(this.#version) }, items });
  }

  /** The lines of a watching after the version, and the version they go to. */
  lines({ labels }: TinyWatch, after: number): { text: string; version: number } {
    const events = this.#events.filter(({ version, object }) => version > after && matches(object, labels));
    const text = events.map(({ type, object }) => `${JSON.stringify({ type, object })}\n`).join('');
    return { text, version: this.#version };
  }

  /** Calls it with every change; returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #handleOne({ method, contentType, body }: TinyRequest, name: string): TinyAnswer {
    const object = this.#objects.get(name);
    if (object === undefined) return refused(404, 'NotFound', `configmaps "${name}" not found`, { name });
    const content = body === undefined || body === '' ? undefined : JSON.parse(body);
    switch (method) {
      case 'GET':
        return ok(object);
      case 'PUT': {
        const isStale = content.metadata.resourceVersion !== object.metadata.resourceVersion;
        if (isStale) return refused(409, 'Conflict', 'the object has been modified');
        return ok(this.#store('MODIFIED', { ...object, data: content.data }));
      }
      case 'PATCH':
        return this.#patch(object, contentType, content);
      case 'DELETE': {
        const uid = content?.preconditions?.uid;
        if (uid !== undefined && uid !== object.metadata.uid) return refused(409, 'Conflict', 'the UID differs');
        this.#objects.delete(name);
        return ok(this.#store('DELETED', object));
      }
      default:
        return refused(405, 'MethodNotAllowed', 'no such method');
    }
  }

  #patch(object: TinyObject, contentType: string | undefined, patch: unknown): TinyAnswer {
    const data = { ...object.data };
    if (contentType === 'application/merge-patch+json') {
      for (const [key, value] of Object.entries((patch as { data?: Record<string, string | null> }).data ?? {})) {
        if (value === null) delete data[key];
        else data[key] = value;
      }
    } else if (contentType === 'application/json-patch+json') {
      for (const { path, value } of patch as { path: string; value: string }[])
        data[path.slice('/data/'.length)] = value;
    } else return refused(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
    return ok(this.#store('MODIFIED', { ...object, data }));
  }

  #create(object: TinyObject): TinyAnswer {
    const { name } = object.metadata;
    if (!/^[a-z0-9.-]+$/.test(name)) {
      const details = { name, causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] };
      return refused(422, 'Invalid', `ConfigMap "${name}" is invalid: metadata.name`, details);
    }
    if (this.#objects.has(name)) return refused(409, 'AlreadyExists', `configmaps "${name}" already exists`, { name });
    const metadata = { ...object.metadata, uid: `uid-${this.#version}` };
    return { ...ok(this.#store('ADDED', { ...object, metadata })), status: 201 };
  }

  #store(type: string, object: TinyObject): TinyObject {
    const version = ++this.#version;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type !== 'DELETED') this.#objects.set(stored.metadata.name, stored);
    this.#events.push({ version, type, object: stored });
    for (const listener of [...this.#listeners]) listener();
    return stored;
  }
}

function ok(body: unknown): TinyAnswer {
  return { status: 200, text: JSON.stringify(body) };
}

function refused(status: number, reason: string, message: string, details?: object): TinyAnswer {
  return { status, text: JSON.stringify({ kind: 'Status', apiVersion: 'v1', code: status, reason, message, details }) };
}

/** `a=b` and `a in (b, c)`, of which only the first is looked at; `undefined` for nonsense. */
function labelsOf(selector: string | null): Record<string, string> | undefined {
  if (selector === null) return {};
  if (!/^[a-z]/.test(selector)) return undefined;
  const pairs = [...selector.matchAll(/([\w.-]+)(?:=| in \()([\w.-]+)/g)];
  return Object.fromEntries(pairs.map(([, key, value]) => [key, value]));
}

function matches({ metadata }: TinyObject, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}
