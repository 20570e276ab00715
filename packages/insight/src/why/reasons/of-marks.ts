/** What the object itself tells. */
import { parseTimestamp } from '@kopf-ts/core';
import type { Known, WhyFinding } from '../explain.js';
import type { HandlerAnswer } from '../handlers.js';
import { listText } from '../words.js';

export function aboutMarks(known: Known, handlers: readonly HandlerAnswer[]): readonly WhyFinding[] {
  const { marks, times, operator, journal } = known;
  if (marks === undefined) return [];
  if (marks === null) {
    return journal === undefined ? [{ reason: 'missing', text: 'There is no such object in the cluster.' }] : [];
  }
  const findings: WhyFinding[] = [];
  const { pausedUntil, deletionTimestamp, isHeld, otherFinalizers, changed, isHandledOnce } = marks;
  const isPauseTold = journal?.entries.findLast((entry) => entry.kind === 'paused')?.isPaused === true;
  if (pausedUntil !== undefined && !isPauseTold) {
    const left = times.left(pausedUntil);
    const isNoTime = parseTimestamp(pausedUntil) === undefined;
    if (left !== undefined)
      findings.push({
        reason: 'paused',
        text: `The object is paused by an annotation, and goes on ${times.aheadOf(pausedUntil)}.`,
      });
    else if (isNoTime)
      findings.push({
        reason: 'unknown',
        text: `The annotation for pausing is not a valid time, and is ignored: ${pausedUntil}`,
      });
  }
  if (deletionTimestamp !== undefined) {
    const others = otherFinalizers.length === 0 ? '' : ` Others hold it, too: ${listText(otherFinalizers)}.`;
    if (isHeld)
      findings.push({
        reason: 'finalizer',
        text: `The object is being deleted since ${deletionTimestamp}, and the operator holds it by its finalizer until its handlers are done.${others}`,
      });
    else if (journal === undefined)
      findings.push({
        reason: 'finalizer',
        text: `The object is being deleted since ${deletionTimestamp}, and the finalizer of the operator is not on it: its deletion handlers are not called.${others}`,
      });
  }
  // The rest is known better by an operator that has seen the object.
  if (journal !== undefined) return findings;
  if (operator !== undefined && handlers.length === 0 && !isHandledOnce) return findings;
  if (handlers.length > 0) return findings;
  if (!isHandledOnce) {
    findings.push({
      reason: 'unknown',
      text: 'No operator has left a mark on the object: it was never handled, or handlers of changes do not want it.',
    });
  } else if (changed.length === 0) {
    findings.push({
      reason: 'unchanged',
      text: 'The object was handled as it is now: nothing has changed in its essence since then.',
    });
  } else {
    findings.push({
      reason: 'unknown',
      text: `The object has changed since it was handled last (${listText(changed)}), and nobody has begun to handle that.`,
    });
  }
  return findings;
}
