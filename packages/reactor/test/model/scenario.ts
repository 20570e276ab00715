/** Scenarios: small plain data that can be printed, shrunk and replayed. Here is what they can say, and what it means. */
import { type AnyObject, deepCopy, deepEqual, isMapping, type PatchFn } from '@kopf-ts/core';
import type { Fault, Refusal, Rewriting } from './model-server.js';

/** What a handler writes; always the same for the same handler, however often it is called. */
export type Deed =
  | 'label'
  | 'annotation'
  | 'own' // a field of the spec that nobody else writes to
  | 'field' // the field of the spec that others look at
  | 'phase' // the same in the status
  | 'list' // by a function: an item of a list
  | 'listed' // by a function: an item with fields of a list
  | 'items' // a list whose items get defaults
  | 'box' // a mapping that gets defaults
  | 'cpu' // a quantity that is normalised
  | 'unknown' // what is pruned
  | 'secret' // `stringData`
  | 'fresh'; // a label with another value in each call: not for handlers of changes, which it would trigger for ever

export type HandlerKind = 'create' | 'update' | 'field' | 'phase' | 'resume' | 'delete' | 'timer' | 'daemon';

export interface HandlerSpec {
  readonly kind: HandlerKind;
  readonly deeds?: readonly Deed[];
  /** How many times it fails before it succeeds, and when it is to be retried. */
  readonly fails?: number;
  readonly delay?: number;
  /** How long it takes; for daemons, how long it takes to leave. */
  readonly nap?: number;
  readonly returns?: boolean;
  /** Whether it writes by verbs at once, and not by its patch when it is over. Functions are for the patch anyway. */
  readonly byVerbs?: boolean;
  readonly subs?: readonly Omit<HandlerSpec, 'kind' | 'subs'>[];
}

/** What others do. */
export type Edit =
  | { readonly do: 'field' | 'other' | 'label' | 'annotation' | 'phase' | 'foreign'; readonly to: number }
  /** Puts something else where the n-th handler has written. */
  | { readonly do: 'undo'; readonly handler: number }
  /** Removes all our marks. */
  | { readonly do: 'strip' }
  | { readonly do: 'delete' }
  /** Away with it, and a new one of the same name. */
  | { readonly do: 'recreate' };

export interface Scenario {
  readonly storage?: 'annotations' | 'status';
  /** Whether the status is a subresource. */
  readonly hasStatus?: boolean;
  readonly lifecycle?: 'asap' | 'oneByOne' | 'allAtOnce';
  /** Whether the object is there before the operator. */
  readonly existsBefore?: boolean;
  /** Whether the object is created as the handlers want it to be. */
  readonly startsDone?: boolean;
  /** How late the watch-events are. */
  readonly lag?: number;
  /** How long the answers to PATCHes are on their way: events may come before them. */
  readonly late?: number;
  /** How long a PATCH is on its way. */
  readonly latency?: number;
  readonly rewriting?: Rewriting;
  readonly handlers: readonly HandlerSpec[];
  /** Our writes are refused for some time: those that contain what this handler writes, or all. */
  readonly refusal?: { readonly handler: number | 'all'; readonly how: Refusal; readonly seconds: number };
  /** At which point of the run something happens. Any moment at which anything else could happen is a point. */
  readonly edits?: readonly { readonly at: number; readonly edit: Edit }[];
  /** The same, by the clock. */
  readonly timed?: readonly { readonly second: number; readonly edit: Edit }[];
  readonly kills?: readonly number[];
  /** When the process is killed, by the clock. */
  readonly killed?: number;
  readonly cuts?: readonly number[];
  /** What happens to which PATCH. */
  readonly faults?: readonly { readonly patch: number; readonly fault: Fault }[];
  /** What others do later, each when all is quiet. */
  readonly later?: readonly Edit[];
}

const MARKS = 'kopf.zalando.org/';

export function handlerName({ kind }: HandlerSpec, index: number): string {
  return `${kind}${index}`;
}

/** The id as it is in the records. */
export function handlerId(spec: HandlerSpec, index: number): string {
  const field = fieldOf(spec.kind);
  return field === undefined ? handlerName(spec, index) : `${handlerName(spec, index)}/${field}`;
}

export function fieldOf(kind: HandlerKind): string | undefined {
  return kind === 'field' ? 'spec.field' : kind === 'phase' ? 'status.phase' : undefined;
}

export function subName(parent: string, index: number): string {
  return `${parent}/sub${index}`;
}

/** A label or a key for whatever belongs to this handler. */
function keyOf(name: string): string {
  return `own-${name.replaceAll('/', '.')}`;
}

let freshness = 0;

/** What it is as a merge-patch, or as a function. */
export function deedOf(deed: Deed, name: string): AnyObject | PatchFn {
  const key = keyOf(name);
  switch (deed) {
    case 'label':
      return { metadata: { labels: { [key]: 'yes' } } };
    case 'annotation':
      return { metadata: { annotations: { [key]: 'yes' } } };
    case 'own':
      return { spec: { own: { [key]: { yes: [1, 2] } } } };
    case 'field':
      return { spec: { field: 'ours' } };
    case 'phase':
      return { status: { phase: 'ours' } };
    case 'list':
      return (body) => {
        body['spec'] = { ...body['spec'] };
        const list: string[] = body['spec'].list ?? [];
        if (!list.includes(key)) body['spec'].list = [...list, key];
      };
    case 'listed':
      return (body) => {
        body['spec'] = { ...body['spec'] };
        const items: AnyObject[] = body['spec'].items?.common ?? [];
        const others = items.filter((item) => item['name'] !== key);
        const mine = items.find((item) => item['name'] === key) ?? { name: key };
        if (others.length === items.length) {
          body['spec'].items = { ...body['spec'].items, common: [...others, mine] };
        }
      };
    case 'items':
      return { spec: { items: { [key]: [{ name: key }] } } };
    case 'box':
      return { spec: { boxes: { [key]: { size: 1 } } } };
    case 'cpu':
      return { spec: { cpu: { [key]: '1000m' } } };
    case 'unknown':
      return { spec: { unknown: { [key]: 1 } } };
    case 'secret':
      return { stringData: { [key]: 'yes' } };
    case 'fresh':
      return { metadata: { labels: { [key]: `fresh${++freshness}` } } };
  }
}

/** Others put something else in its place. */
function undo(deed: Deed, name: string, object: AnyObject): void {
  const key = keyOf(name);
  object.metadata ??= {};
  object['spec'] ??= {};
  const { metadata, spec } = object as Required<AnyObject>;
  switch (deed) {
    case 'label':
      metadata.labels = { ...metadata.labels, [key]: 'theirs' };
      return;
    case 'annotation':
      delete metadata.annotations?.[key];
      return;
    case 'own':
      if (spec.own) spec.own[key] = { theirs: true };
      return;
    case 'field':
      spec.field = 'theirs';
      return;
    case 'phase':
      object['status'] = { ...object['status'], phase: 'theirs' };
      return;
    case 'list':
      spec.list = [];
      return;
    case 'listed':
      if (spec.items) spec.items.common = [];
      return;
    case 'items':
      if (spec.items) spec.items[key] = [{ name: 'theirs' }];
      return;
    case 'box':
      if (spec.boxes) spec.boxes[key] = { size: 2 };
      return;
    case 'cpu':
      if (spec.cpu) spec.cpu[key] = '2';
      return;
    case 'unknown':
    case 'fresh':
      return;
    case 'secret':
      if (object['data']) delete object['data'][key];
      return;
  }
}

/** Whether the object is as the handler wants it, as far as the server permits. */
export function isDone(
  deed: Deed,
  name: string,
  object: AnyObject,
  rewritten: (given: AnyObject) => AnyObject,
): boolean {
  if (deed === 'fresh') return object.metadata?.labels?.[keyOf(name)] !== undefined;
  const wanted = deepCopy(object) as AnyObject;
  const what = deedOf(deed, name);
  if (typeof what === 'function') what(wanted);
  else merge(wanted, what);
  return deepEqual(rewritten(wanted), object);
}

/** A merge-patch without removals. */
export function merge(target: AnyObject, patch: AnyObject): void {
  for (const [key, value] of Object.entries(patch)) {
    if (!isMapping(value)) target[key] = value;
    else {
      target[key] = { ...target[key] };
      merge(target[key], value);
    }
  }
}

export function applyEdit(edit: Edit, scenario: Scenario, object: AnyObject): void {
  object.metadata ??= {};
  const { metadata } = object;
  switch (edit.do) {
    case 'field':
      object['spec'] = { ...object['spec'], field: `v${edit.to}` };
      return;
    case 'other':
      object['spec'] = { ...object['spec'], other: edit.to };
      return;
    case 'label':
      metadata.labels = { ...metadata.labels, theirs: `v${edit.to}` };
      return;
    case 'annotation':
      metadata.annotations = { ...metadata.annotations, theirs: `v${edit.to}` };
      return;
    case 'phase':
      object['status'] = { ...object['status'], phase: `v${edit.to}` };
      return;
    case 'foreign':
      object['status'] = { ...object['status'], foreign: edit.to };
      return;
    case 'undo': {
      const spec = scenario.handlers[edit.handler % scenario.handlers.length];
      const index = edit.handler % scenario.handlers.length;
      for (const deed of spec?.deeds ?? []) undo(deed, handlerName(spec as HandlerSpec, index), object);
      return;
    }
    case 'strip':
      for (const key of Object.keys(metadata.annotations ?? {})) {
        if (key.startsWith(MARKS)) delete metadata.annotations?.[key];
      }
      if (object['status']?.kopf !== undefined) {
        object['status'] = { ...object['status'] };
        delete object['status'].kopf;
      }
      return;
    default:
      return;
  }
}
