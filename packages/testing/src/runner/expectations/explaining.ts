/** Failures with the reasons in them: what a person would ask next. */
import type { Body, ObservedObject } from '@kopf-ts/core';
import type { RunnerObject } from '../../operator-runner.js';

/** How many objects are explained: the latest ones. */
const MAX_EXPLAINED = 3;

export function observedName({ resource, namespace, name = '' }: ObservedObject): RunnerObject {
  const { plural, group } = resource;
  return { resource: group === '' ? plural : `${plural}.${group}`, namespace, name };
}

/** `kopfexamples/default/one`, `nodes/one`, or an object with its kind and metadata. */
export function nameOf(object: string | RunnerObject | Body): RunnerObject {
  if (typeof object === 'string') {
    const [resource = '', ...rest] = object.split('/');
    const [name = '', namespace] = rest.toReversed();
    return { resource, namespace, name };
  }
  if ('resource' in object) return object as RunnerObject;
  const { kind = '', metadata } = object as Body;
  return { resource: kind, namespace: metadata?.namespace, name: metadata?.name ?? '' };
}

/** The same error, with the reasons at the end of its message. */
export function explained(
  error: unknown,
  objects: readonly ObservedObject[],
  why: (object: ObservedObject) => string | undefined,
): unknown {
  if (!(error instanceof Error)) return error;
  const texts = objects.slice(0, MAX_EXPLAINED).flatMap((object) => why(object) ?? []);
  if (texts.length === 0) return error;
  try {
    error.message = [error.message, ...texts].join('\n\n');
  } catch {
    // It cannot be changed; and it is still the one to be thrown.
  }
  return error;
}
