/**
 * Writes events. What is said again is counted, what differs in details only is said in one after a while, and who says
 * too much about one object is not listened to: as the programs of real clusters do it.
 */
import { ApiError, type Clock, type KubeClient, type Mapping, type Seconds } from '@kopf-ts/core';
import type { ServedObject } from '../contracts/objects.js';
import type { SimulatedController } from './decisions.js';
import { NODE } from './node.js';
import type { Note } from './notes.js';

/** So many different messages for one reason are too many: this one and the later ones are combined. */
const MOST_MESSAGES = 10;
const COMBINED_WITHIN: Seconds = 600;
/** So many in a row, and then one now and then. */
const BURST = 25;
const ONE_MORE_AFTER: Seconds = 300;
/** Whose events are remembered. */
const MOST_OBJECTS = 4096;

/** What has been said about an object. */
interface Memory {
  tokens: number;
  tokensAt: Seconds;
  readonly reasons: Map<string, { readonly messages: Set<string>; at: Seconds }>;
  readonly events: Map<string, { readonly name: string; count: number }>;
}

export class EventRecorder {
  readonly #clock: Clock;
  readonly #memories = new Map<string, Memory>();
  #latest = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never fails: events are nice to have. */
  async record(client: KubeClient, speaker: SimulatedController, object: ServedObject, note: Note): Promise<void> {
    const memory = this.#memoryOf(`${speaker.name}\n${object.metadata.uid}`);
    const { key, message } = this.#combined(memory, note);
    const isHeard = this.#spend(memory);
    const before = memory.events.get(key);
    const { name: about = '', namespace = 'default' } = object.metadata;
    const path = `/api/v1/namespaces/${namespace}/events`;
    const count = (before?.count ?? 0) + 1;
    const name = before?.name ?? this.#newName(about);
    memory.events.set(key, { name, count });
    if (!isHeard) return;
    try {
      if (before === undefined) {
        const body = this.#eventOf(speaker, object, { ...note, message }, { name, namespace });
        await client.request({ method: 'POST', path, body });
      } else {
        await client.request({
          method: 'PATCH',
          path: `${path}/${encodeURIComponent(name)}`,
          contentType: 'application/merge-patch+json',
          body: this.#repeated(note, message, count),
        });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      memory.events.delete(key);
    }
  }

  #memoryOf(key: string): Memory {
    const now = this.#clock.now();
    const memory = this.#memories.get(key) ?? { tokens: BURST, tokensAt: now, reasons: new Map(), events: new Map() };
    // The one that was used last is the last to be forgotten.
    this.#memories.delete(key);
    this.#memories.set(key, memory);
    for (const [oldest] of this.#memories) {
      if (this.#memories.size <= MOST_OBJECTS) break;
      this.#memories.delete(oldest);
    }
    return memory;
  }

  #combined({ reasons }: Memory, { type, reason, message, fieldPath = '' }: Note): { key: string; message: string } {
    const now = this.#clock.now();
    const kind = `${type}\n${reason}\n${fieldPath}`;
    const seen = reasons.get(kind);
    const messages = seen === undefined || now - seen.at > COMBINED_WITHIN ? new Set<string>() : seen.messages;
    reasons.set(kind, { messages, at: now });
    messages.add(message);
    if (messages.size < MOST_MESSAGES) return { key: `${kind}\n${message}`, message };
    messages.delete(message);
    return { key: kind, message: `(combined from similar events): ${message}` };
  }

  #spend(memory: Memory): boolean {
    const now = this.#clock.now();
    memory.tokens = Math.min(BURST, memory.tokens + (now - memory.tokensAt) / ONE_MORE_AFTER);
    memory.tokensAt = now;
    if (memory.tokens < 1) return false;
    memory.tokens -= 1;
    return true;
  }

  /** After the time in nanoseconds; two never have the same. */
  #newName(about: string): string {
    const now = BigInt(this.#clock.utc().getTime()) * 1_000_000n;
    this.#latest = now > this.#latest ? now : this.#latest + 1n;
    return `${about}.${this.#latest.toString(16)}`;
  }

  get #timestamp(): string {
    return `${this.#clock.utc().toISOString().slice(0, 19)}Z`;
  }

  get #exactly(): string {
    return `${this.#clock.utc().toISOString().slice(0, -1)}000Z`;
  }

  #eventOf({ component, program }: SimulatedController, object: ServedObject, note: Note, metadata: Mapping): Mapping {
    const { type, reason, message, action, fieldPath } = note;
    const { namespace, name, uid, resourceVersion } = object.metadata;
    const { apiVersion, kind } = object;
    const place = fieldPath === undefined ? {} : { fieldPath };
    const involvedObject = { apiVersion, kind, namespace, name, uid, resourceVersion, ...place };
    const told = { apiVersion: 'v1', kind: 'Event', metadata, involvedObject, type, reason, message };
    if (action !== undefined) {
      const reporting = { reportingComponent: component, reportingInstance: `${component}-${NODE}` };
      return { ...told, action, eventTime: this.#exactly, ...reporting };
    }
    const host = program === 'kubelet' ? { host: NODE } : {};
    return {
      ...told,
      count: 1,
      firstTimestamp: this.#timestamp,
      lastTimestamp: this.#timestamp,
      source: { component, ...host },
      reportingComponent: component,
      reportingInstance: host.host ?? '',
    };
  }

  #repeated({ action }: Note, message: string, count: number): Mapping {
    if (action !== undefined) return { series: { count, lastObservedTime: this.#exactly } };
    return { count, lastTimestamp: this.#timestamp, message };
  }
}
