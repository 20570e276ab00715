/** Sequences of requests by chance: the same seed gives the same ones. */
import {
  type Answer,
  applyPatch,
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  put,
  type RequestStep,
  type Sequence,
  sequence,
  strategicPatch,
} from '../harness/sequence.js';
import { clusterWide, type Fields, inNamespace } from '../sequences/objects.js';
import type { GeneratedKind } from './generated-kind.js';
import { mutated, oddText, oddValue } from './mutations.js';
import { appliedPart, jsonPatchOf, mergePatchOf, strategicPatchOf } from './patches.js';
import { Random } from './random.js';

export interface World {
  readonly name: string;
  readonly kinds: readonly (readonly [weight: number, kind: GeneratedKind])[];
}

/** The sequences of a seed, one after another, without an end. */
export function* sequencesOf(world: World, seed: string): Generator<Sequence, never> {
  for (let number = 1; ; number += 1) yield generatedSequence(world, `${seed}-${number}`);
}

export function generatedSequence(world: World, seed: string): Sequence {
  const random = new Random(`${world.name}/${seed}`);
  const kinds = Array.from(
    {
      length: random.weighted([
        [5, 1],
        [3, 2],
      ]),
    },
    () => random.weighted(world.kinds),
  );
  const author = new Author(random, kinds);
  const steps: RequestStep[] = [];
  const length = random.between(12, 30);
  while (steps.length < length) steps.push(...author.next());
  return sequence(`generated ${world.name} ${seed}`, steps, { causesComeInAnyOrder: true });
}

/** The controllers have done what they do after deletions. */
export const isSettled = ({ status, body }: Answer): boolean =>
  status >= 400 || !/"(orphan|foregroundDeletion)"|"phase":"Terminating"/.test(JSON.stringify(body));

interface Named {
  readonly kind: GeneratedKind;
  readonly name: string;
  /** What was last sent for it. */
  readonly body: Fields;
}

type Extras = NonNullable<Parameters<typeof get>[1]>;

const names = ['a', 'b', 'c'];
const managers = ['alice', 'bob'];
const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** Writes requests, and remembers which objects there might be. */
class Author {
  readonly #random: Random;
  readonly #kinds: readonly GeneratedKind[];
  readonly #objects = new Map<string, Named>();

  constructor(random: Random, kinds: readonly GeneratedKind[]) {
    this.#random = random;
    this.#kinds = kinds;
  }

  /** The next request, with what has to be waited for after it. */
  next(): RequestStep[] {
    const random = this.#random;
    const kind = random.pick(this.#kinds);
    const known = [...this.#objects.values()].filter((one) => one.kind === kind);
    if (known.length === 0) return this.#create(kind);
    const target = random.chance(0.92)
      ? random.pick(known)
      : { kind, name: random.pick(names), body: kind.body(random) };
    return random.weighted<() => RequestStep[]>([
      [known.length < 2 ? 16 : 7, () => this.#create(kind)],
      [7, () => [this.#get(target)]],
      [8, () => [this.#list(kind)]],
      [12, () => [this.#put(target)]],
      [10, () => [this.#patch(target)]],
      [7, () => [this.#jsonPatch(target)]],
      [kind.isCustom === true ? 0.5 : 11, () => [this.#strategic(target)]],
      [15, () => [this.#apply(target)]],
      [6, () => this.#delete(target)],
      [1.5, () => this.#deleteAll(kind)],
      [kind.status === undefined ? 0.2 : 8, () => [this.#status(target)]],
      [kind.scales === true ? 5 : 0.1, () => [this.#scale(target)]],
      [kind.evicts === true ? 1 : 0, () => [this.#evict(target)]],
      [0.4, () => [this.#odd(target)]],
    ])();
  }

  #create(kind: GeneratedKind): RequestStep[] {
    const random = this.#random;
    const name = random.pick(names);
    const body = this.#object(kind, name);
    this.#objects.set(`${kind.plural}/${name}`, { kind, name, body });
    return [post(this.#collection(kind) + this.#writing(), this.#perhapsWrong(body), this.#extras(kind, name))];
  }

  #get({ kind, name }: Named): RequestStep {
    return get(this.#path(kind, name), this.#extras(kind, name));
  }

  #list(kind: GeneratedKind): RequestStep {
    const random = this.#random;
    const query = new URLSearchParams();
    // Others have objects beside the namespaces, too.
    if (!kind.namespaced) query.set('fieldSelector', `metadata.name=${this.#nameOf(kind, random.pick(names))}`);
    else if (random.chance(0.3)) query.set('fieldSelector', this.#fieldSelector(kind));
    if (random.chance(0.35)) query.set('labelSelector', this.#labelSelector());
    if (random.chance(0.3)) query.set('limit', random.pick(['1', '2', '2', '500', '0', '-1', 'x']));
    if (random.chance(0.12)) query.set('continue', '<continue>');
    if (random.chance(0.06)) {
      query.set('resourceVersion', `<version-${kind.plural}-${random.pick(names)}>`);
      query.set(
        'resourceVersionMatch',
        random.weighted([
          [6, 'Exact'],
          [1, 'Wrong'],
        ]),
      );
    }
    const text = query.toString().replaceAll('%3C', '<').replaceAll('%3E', '>');
    const path = this.#collection(kind) + (text === '' ? '' : `?${text}`);
    return get(path, { ...this.#accepting(0.3), save: { continue: 'metadata.continue' } });
  }

  #put(target: Named): RequestStep {
    const random = this.#random;
    const { kind, name } = target;
    const fresh = this.#object(kind, name);
    // Mostly a small change, since much of what there is cannot be changed.
    const body = random.chance(0.5) ? fresh : ({ ...target.body, metadata: fresh['metadata'] } as Fields);
    const versioned = this.#versioned(body, kind, name);
    if (random.chance(0.5)) this.#objects.set(`${kind.plural}/${name}`, { kind, name, body });
    return put(this.#path(kind, name) + this.#writing(), this.#perhapsWrong(versioned), this.#extras(kind, name));
  }

  #patch({ kind, name }: Named): RequestStep {
    const patch = mergePatchOf(this.#random, this.#withoutIdentity(this.#object(kind, name)));
    return mergePatch(this.#path(kind, name) + this.#writing(), this.#perhapsWrong(patch), this.#extras(kind, name));
  }

  #jsonPatch({ kind, name, body }: Named): RequestStep {
    const patch = jsonPatchOf(this.#random, body, this.#object(kind, name));
    return jsonPatch(this.#path(kind, name) + this.#writing(), patch, this.#extras(kind, name));
  }

  #strategic({ kind, name }: Named): RequestStep {
    const patch = strategicPatchOf(this.#random, this.#withoutIdentity(this.#object(kind, name)));
    return strategicPatch(
      this.#path(kind, name) + this.#writing(),
      this.#perhapsWrong(patch),
      this.#extras(kind, name),
    );
  }

  #apply({ kind, name }: Named): RequestStep {
    const random = this.#random;
    const { metadata, apiVersion, kind: _, ...rest } = this.#object(kind, name);
    const part = appliedPart(random, rest);
    const { finalizers: _finalizers, ...plainMetadata } = metadata as Record<string, unknown>;
    const body = {
      apiVersion,
      kind: kind.kind,
      metadata: random.chance(0.5) ? plainMetadata : { name: this.#nameOf(kind, name) },
      ...part,
    };
    const query = new URLSearchParams();
    if (random.chance(0.98)) query.set('fieldManager', random.pick(managers));
    if (random.chance(0.35))
      query.set(
        'force',
        random.weighted([
          [6, 'true'],
          [1, 'false'],
        ]),
      );
    this.#addWriting(query);
    const text = query.toString();
    this.#objects.set(`${kind.plural}/${name}`, { kind, name, body });
    return applyPatch(
      `${this.#path(kind, name)}${text === '' ? '' : `?${text}`}`,
      this.#perhapsWrong(body),
      this.#extras(kind, name),
    );
  }

  #delete({ kind, name }: Named): RequestStep[] {
    const random = this.#random;
    const options = random.fields(
      {
        gracePeriodSeconds: () =>
          random.weighted([
            [3, 0],
            [2, 30],
            [1, 1],
            [0.3, -1],
          ]),
        propagationPolicy: () =>
          random.weighted([
            [5, 'Background'],
            [kind.isCustom === true ? 0 : 2, 'Foreground'],
            [kind.isCustom === true ? 0 : 2, 'Orphan'],
            [0.3, 'Wrong'],
          ]),
        preconditions: () =>
          random.pick<Fields>([
            { uid: `<uid-${kind.plural}-${name}>` },
            { resourceVersion: `<version-${kind.plural}-${name}>` },
            { uid: 'other' },
            { resourceVersion: '1' },
          ]),
        dryRun: () => ['All'],
        orphanDependents: () =>
          random.weighted<unknown>([
            [1, false],
            [kind.isCustom === true ? 0 : 1, true],
          ]),
      },
      0.15,
    );
    const body = random.chance(0.5) ? undefined : random.chance(0.05) ? mutated(random, options) : options;
    const step = del(this.#path(kind, name) + (random.chance(0.05) ? '?dryRun=All' : ''), body, this.#accepting(0.1));
    if (random.chance(0.5)) this.#objects.delete(`${kind.plural}/${name}`);
    const leaves = kind.deletesLater === true || /Foreground|Orphan|orphan/.test(JSON.stringify(body) ?? '');
    return leaves ? [step, get(this.#path(kind, name), { until: isSettled })] : [step];
  }

  #deleteAll(kind: GeneratedKind): RequestStep[] {
    if (!kind.namespaced) return [];
    const random = this.#random;
    const query = random.chance(0.5) ? `?labelSelector=${encodeURIComponent(this.#labelSelector())}` : '';
    const step = del(this.#collection(kind) + query);
    return kind.deletesLater === true ? [step, get(this.#collection(kind), { until: isSettled })] : [step];
  }

  #status({ kind, name, body }: Named): RequestStep {
    const random = this.#random;
    const path = this.#path(kind, name, 'status');
    const status = kind.status?.(random) ?? { phase: 'x' };
    const extras = this.#extras(kind, name);
    const { apiVersion } = this.#identity(kind);
    const whole = { ...body, apiVersion, kind: kind.kind, metadata: { name: this.#nameOf(kind, name) }, status };
    return random.weighted<() => RequestStep>([
      [1, () => get(path, extras)],
      [3, () => put(path + this.#writing(), this.#perhapsWrong(this.#versioned(whole, kind, name)), extras)],
      [3, () => mergePatch(path + this.#writing(), this.#perhapsWrong(mergePatchOf(random, { status })), extras)],
      [
        kind.isCustom === true ? 0 : 2,
        () => strategicPatch(path + this.#writing(), this.#perhapsWrong({ status }), extras),
      ],
      [
        2,
        () =>
          applyPatch(
            `${path}?fieldManager=${random.pick(managers)}${random.chance(0.4) ? '&force=true' : ''}`,
            this.#perhapsWrong({ apiVersion, kind: kind.kind, metadata: { name: this.#nameOf(kind, name) }, status }),
            extras,
          ),
      ],
      [1, () => jsonPatch(path + this.#writing(), [{ op: 'add', path: '/status', value: status }], extras)],
    ])();
  }

  #scale({ kind, name }: Named): RequestStep {
    const random = this.#random;
    const path = this.#path(kind, name, 'scale');
    const replicas = random.weighted<unknown>([
      [8, random.below(5)],
      [1, -1],
      [1, oddValue(random, 1)],
    ]);
    const whole = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: this.#nameOf(kind, name) },
      spec: { replicas },
    };
    return random.weighted<() => RequestStep>([
      [2, () => get(path, this.#accepting(0.2))],
      [
        3,
        () =>
          put(
            path + this.#writing(),
            this.#perhapsWrong(random.chance(0.2) ? this.#versioned(whole, kind, name) : whole),
            this.#accepting(0.05),
          ),
      ],
      [3, () => mergePatch(path + this.#writing(), { spec: { replicas } })],
      [kind.isCustom === true ? 0 : 1, () => strategicPatch(path + this.#writing(), { spec: { replicas } })],
      [1, () => jsonPatch(path + this.#writing(), [{ op: 'replace', path: '/spec/replicas', value: replicas }])],
      [1, () => applyPatch(`${path}?fieldManager=${random.pick(managers)}&force=true`, whole)],
    ])();
  }

  #evict({ kind, name }: Named): RequestStep {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: this.#nameOf(kind, name) } };
    return post(this.#path(kind, name, 'eviction'), this.#perhapsWrong(body));
  }

  /** What no client would ask for. */
  #odd({ kind, name, body }: Named): RequestStep {
    const random = this.#random;
    const path = this.#path(kind, name);
    return random.pick<() => RequestStep>([
      () => post(path, body),
      () => put(this.#collection(kind), body),
      () => get(`${path}/nothing`),
      () => get(this.#collection(kind).replace(kind.plural, `${kind.plural}x`)),
      () => put(path, body, { headers: { 'content-type': 'text/plain' } }),
      () => mergePatch(path, {}, { headers: { 'content-type': 'application/x-patch' } }),
      () => get(path, { headers: { accept: 'text/html' } }),
      () => post(`${path}/status`, body),
    ])();
  }

  #identity(kind: GeneratedKind): { apiVersion: string } {
    const versions = [kind.apiVersion, ...(kind.otherVersions ?? [])];
    return {
      apiVersion: versions.length > 1 && this.#random.chance(0.15) ? this.#random.pick(versions) : kind.apiVersion,
    };
  }

  #object(kind: GeneratedKind, name: string): Fields {
    const random = this.#random;
    return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: this.#metadata(kind, name), ...kind.body(random) };
  }

  #withoutIdentity({ apiVersion: _version, kind: _kind, metadata, ...rest }: Fields): Fields {
    const { name: _name, generateName: _prefix, ...others } = metadata as Record<string, unknown>;
    return Object.keys(others).length === 0 ? rest : { ...rest, metadata: others };
  }

  #metadata(kind: GeneratedKind, name: string): Fields {
    const random = this.#random;
    return {
      name: this.#nameOf(kind, name),
      ...(kind.namespaced && random.chance(0.1) ? { namespace: '<ns>' } : {}),
      ...random.fields(
        {
          labels: () =>
            random.fields(
              {
                app: () => random.pick(['web', 'db']),
                tier: () => random.pick(['front', 'back', '']),
                'example.com/x': () => 'y',
              },
              0.5,
            ),
          annotations: () =>
            random.fields({ note: () => random.pick(['x', 'ü ☃', '{"a":1}']), 'example.com/y': () => 'z' }, 0.6),
        },
        0.4,
      ),
      ...random.fields({ finalizers: () => ['example.com/a'] }, 0.04),
    };
  }

  #nameOf(kind: GeneratedKind, name: string): string {
    return kind.namespaced ? name : `${name}-<id>`;
  }

  #collection(kind: GeneratedKind): string {
    const { apiVersion } = this.#identity(kind);
    return kind.namespaced ? inNamespace(kind.plural, apiVersion) : clusterWide(kind.plural, apiVersion);
  }

  #path(kind: GeneratedKind, name: string, subresource?: string): string {
    return `${this.#collection(kind)}/${this.#nameOf(kind, name)}${subresource === undefined ? '' : `/${subresource}`}`;
  }

  #versioned(body: Fields, kind: GeneratedKind, name: string): Fields {
    const random = this.#random;
    const version = random.weighted<string | undefined>([
      [kind.needsVersion === true ? 20 : 3, `<version-${kind.plural}-${name}>`],
      [kind.needsVersion === true ? 1 : 7, undefined],
      [0.3, random.pick(['0', 'abc', '1', '-1', ''])],
    ]);
    const metadata = body['metadata'] as Fields;
    return {
      ...body,
      metadata: {
        ...metadata,
        ...(version === undefined ? {} : { resourceVersion: version }),
        ...random.fields({ uid: () => random.pick([`<uid-${kind.plural}-${name}>`, 'other']) }, 0.04),
      },
    };
  }

  #perhapsWrong(body: unknown): unknown {
    return this.#random.chance(0.22) ? mutated(this.#random, body) : body;
  }

  #extras(kind: GeneratedKind, name: string): Extras {
    return {
      ...this.#accepting(0.06),
      save: {
        [`version-${kind.plural}-${name}`]: 'metadata.resourceVersion',
        [`uid-${kind.plural}-${name}`]: 'metadata.uid',
      },
    };
  }

  #accepting(probability: number): Extras {
    const random = this.#random;
    if (!random.chance(probability)) return {};
    const accept = random.weighted([
      [8, tableAccept],
      [2, 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
      [2, 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'],
      [1, '*/*'],
      [0.5, 'application/json;as=Table;v=v9;g=meta.k8s.io'],
    ]);
    return { headers: { accept } };
  }

  /** Queries of writing requests. */
  #writing(): string {
    const query = new URLSearchParams();
    if (this.#random.chance(0.2))
      query.set(
        'fieldManager',
        this.#random.weighted([
          [8, 'alice'],
          [8, 'bob'],
          [0.3, 'x'.repeat(129)],
          [0.3, 'a\u0001b'],
        ]),
      );
    this.#addWriting(query);
    const text = query.toString();
    return text === '' ? '' : `?${text}`;
  }

  #addWriting(query: URLSearchParams): void {
    const random = this.#random;
    if (random.chance(0.07))
      query.set(
        'dryRun',
        random.weighted([
          [12, 'All'],
          [1, oddText(random)],
        ]),
      );
    if (random.chance(0.25))
      query.set(
        'fieldValidation',
        random.weighted([
          [5, 'Strict'],
          [3, 'Warn'],
          [2, 'Ignore'],
          [0.3, 'Wrong'],
        ]),
      );
    if (random.chance(0.01)) query.set('unknown', 'x');
    if (random.chance(0.01)) query.set('pretty', 'true');
  }

  #labelSelector(): string {
    return this.#random.pick([
      'app=web',
      'app',
      '!app',
      'app in (web, db)',
      'app notin (web)',
      'app!=db,tier',
      'example.com/x=y',
      'tier=',
      'app==db',
      'a b',
      'app in ()',
      '=',
      'app>1',
      'app=web,',
    ]);
  }

  #fieldSelector(kind: GeneratedKind): string {
    const random = this.#random;
    return random.weighted<() => string>([
      [3, () => `metadata.name${random.pick(['=', '!=', '=='])}${random.pick(names)}`],
      [1, () => 'metadata.namespace=<ns>'],
      [
        4,
        () => {
          const [field, value] = random.pick(kind.selectable ?? [['metadata.name', 'a']]);
          return `${field}${random.pick(['=', '!='])}${value}`;
        },
      ],
      [0.5, () => random.pick(['spec.nothing=x', 'metadata.name', 'metadata.name=a,metadata.name=b', '='])],
    ])();
  }
}
