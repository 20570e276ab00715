/** The small vocabulary of HTTP that the server needs. */
import type { IncomingMessage } from 'node:http';
import type { WebhookServer } from '@kopf-ts/core';

/** Who is told of what is refused without a review. */
export type ToldOfRefusals = NonNullable<Parameters<WebhookServer['serve']>[0]['refused']>;

/** The request is not even reviewed; the text is for the caller to read. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it is the review function that has refused. */
  readonly isOfReview: boolean;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, isOfReview = false) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.isOfReview = isOfReview;
  }
}

/** The caller has closed the connection: nobody waits for an answer. */
export class ClientGone extends Error {
  constructor() {
    super('The caller is gone.');
  }
}

const MAX_PHRASE = 200;

/** A text that can stand in the first line of an answer: one line of plain ASCII. */
export function reasonPhrase(text: string): string {
  return text.slice(0, MAX_PHRASE).replace(/[^\x20-\x7e]/g, '?');
}

/** By lower-case names; one text for each. */
export function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) plain[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return plain;
}
