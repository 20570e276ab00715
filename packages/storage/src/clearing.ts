/** Taking traces out of essences. Most essences have none, and there are as many essences as events: these are not copied. */
import type { Essence } from '@kopf-ts/core';

interface Stanzas {
  readonly metadata?: { readonly labels?: unknown; readonly annotations?: unknown } | null;
  readonly status?: unknown;
}

const NONE: readonly string[] = [];

/** Whether there are no empty stanzas to be removed. */
export function isTidy(essence: Essence): boolean {
  const { metadata, status } = essence as Stanzas;
  return ![metadata, metadata?.labels, metadata?.annotations, status].some(isEmpty);
}

function isEmpty(stanza: unknown): boolean {
  if (typeof stanza === 'object' && stanza !== null) return Object.keys(stanza).length === 0;
  return stanza === null || stanza === '';
}

/** The annotations with such names in the essence, if it has any. */
export function annotationsOf(essence: Essence, isOwn: (annotation: string) => boolean): readonly string[] {
  const annotations = (essence as Stanzas).metadata?.annotations;
  return typeof annotations === 'object' && annotations !== null ? Object.keys(annotations).filter(isOwn) : NONE;
}
