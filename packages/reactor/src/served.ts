/**
 * Which objects of a kind are served, in the words of the server: by the settings; or else by what all its handlers agree
 * on, where nobody can tell the difference. Pure.
 */
import {
  type Body,
  type Registry,
  type Resource,
  resolveField,
  type ServedObjects,
  type Settings,
} from '@kopf-ts/core';
import {
  fieldSelectorOf,
  isSelectedBy,
  labelSelectorOf,
  parseSelector,
  type ServerSelection,
  serverSelection,
} from '@kopf-ts/core/engine';

/** Absent selectors select everything. */
export interface Served extends ServerSelection {
  /** Whether the object is served. Absent if handlers find that out by their own filters. */
  readonly includes?: (body: Body) => boolean;
}

const EVERYTHING: Served = Object.freeze({});

export interface ServedParts {
  readonly registry: Pick<Registry, 'handlers'>;
  readonly settings: Pick<Settings, 'watching'>;
}

export function servedOf({ registry, settings }: ServedParts, resource: Resource): Served {
  const { selectors, selectsByHandlers } = settings.watching;
  const told = Object.entries(selectors).find(([kind]) => parseSelector(kind).check(resource))?.[1];
  if (told !== undefined) return byHand(told);
  return selectsByHandlers ? serverSelection(registry.handlers, resource) : EVERYTHING;
}

function byHand({ labels = {}, fields = {} }: ServedObjects): Served {
  const [labelSelector, fieldSelector] = [labelSelectorOf(labels), fieldSelectorOf(fields)];
  if (!labelSelector && !fieldSelector) return EVERYTHING;
  return {
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
    includes(body) {
      const given: Readonly<Record<string, string>> = body.metadata?.labels ?? {};
      return (
        isSelectedBy(labels, (key) => (Object.hasOwn(given, key) ? given[key] : undefined)) &&
        // For the server, a field that is absent is an empty one.
        isSelectedBy(fields, (key) => String(resolveField(body, key.split('.')) ?? ''))
      );
    },
  };
}
