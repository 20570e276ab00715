/** From the body of a request to the JSON in it, within the limits of memory. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type AdmissionRequest, isMapping } from '@kopf-ts/core';
import { type BodyAccount, COPIES } from './body-budget.js';
import { ClientGone, Refusal } from './http-refusals.js';
import { jsonCosts } from './json-costs.js';

/** Calls `done` or `fail`, once. */
export interface BodyReceiver {
  done(body: Buffer): void;
  fail(reason: Error): void;
}

/**
 * Reads the body, as far as the limit and the account permit. Throws at once if the headers tell that it is too large:
 * then nothing is read. With callbacks instead of a promise: where contexts of handlers are followed, each promise is
 * dear in older Nodes.
 */
export function readBody(request: IncomingMessage, limit: number, account: BodyAccount, receiver: BodyReceiver): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit) throw tooLarge(limit);
  // Only looked at, not taken: else, headers alone would be enough to keep everybody else out.
  account.require(declared);
  let chunks: Buffer[] = [];
  let size = 0;
  let isSettled = false;
  const failOnce = (reason: Error): void => {
    if (isSettled) return;
    isSettled = true;
    chunks = [];
    receiver.fail(reason);
  };
  request.on('data', (chunk: Buffer) => {
    // What is still to come after a failure flows into nowhere, until the connection is closed with the answer.
    if (isSettled) return;
    size += chunk.length;
    if (size > limit) return failOnce(tooLarge(limit));
    try {
      account.take(chunk.length);
    } catch (refusal) {
      return failOnce(refusal as Refusal);
    }
    chunks.push(chunk);
  });
  request.on('end', () => {
    if (isSettled) return;
    isSettled = true;
    const [only] = chunks;
    const body = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
    // The request can be remembered for as long as its connection is idle: not with all of its content.
    chunks = [];
    receiver.done(body);
  });
  // It comes only to those that are broken off. The event of being closed comes to all of them, and costs more.
  request.on('error', () => failOnce(new ClientGone()));
}

function tooLarge(limit: number): Refusal {
  return new Refusal(413, `The request is larger than ${limit} bytes.`);
}

/** Nearly all reviews are smaller, and whatever is in those cannot take much. */
const SMALL = 16 * 1024;
/** The most that a small body can take, for each byte of it. */
const SMALL_FACTOR = 32;

/** As deep as API servers themselves read objects. */
const MAX_DEPTH = 10_000;

/** Parses the body, if there is memory for what becomes of it. */
export function parseReview(body: Buffer, account: BodyAccount): AdmissionRequest {
  if (body.length <= SMALL) {
    account.take(body.length * SMALL_FACTOR);
  } else {
    const { memory, depth } = jsonCosts(body);
    if (depth > MAX_DEPTH) throw new Refusal(400, 'The request is nested too deep.');
    account.take(body.length * (COPIES - 1) + memory);
  }
  if (!isUtf8(body)) throw new Refusal(400, 'The request is not JSON: it is not even UTF-8.');
  let review: unknown;
  try {
    review = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'The request is not JSON.');
  }
  if (!isMapping(review)) throw new Refusal(400, 'The request is not an AdmissionReview: it is not even an object.');
  // It is not known to be one: that is for the review to find out.
  return review as unknown as AdmissionRequest;
}
