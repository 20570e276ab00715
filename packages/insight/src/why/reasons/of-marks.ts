/** Reasons found in the object itself. */
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
        text: `The object is paused by an annotation, and resumes ${times.aheadOf(pausedUntil)}.`,
      });
    else if (isNoTime)
      findings.push({
        reason: 'unknown',
        text: `The pause annotation is not a valid time and is ignored: ${pausedUntil}`,
      });
  }
  if (deletionTimestamp !== undefined) {
    const others = otherFinalizers.length === 0 ? '' : ` It has other finalizers, too: ${listText(otherFinalizers)}.`;
    if (isHeld)
      findings.push({
        reason: 'finalizer',
        text: `The object is being deleted (since ${deletionTimestamp}), and the operator's finalizer holds it until its handlers are done.${others}`,
      });
    else if (journal === undefined)
      findings.push({
        reason: 'finalizer',
        text: `The object is being deleted (since ${deletionTimestamp}) without the operator's finalizer: its deletion handlers are not called.${others}`,
      });
  }
  // An operator that has seen the object knows the rest better.
  if (journal !== undefined) return findings;
  if (operator !== undefined && handlers.length === 0 && !isHandledOnce) return findings;
  if (handlers.length > 0) return findings;
  if (!isHandledOnce) {
    findings.push({
      reason: 'unknown',
      text: 'The object has no marks of an operator: it was never handled, or no change handler matches it.',
    });
  } else if (changed.length === 0) {
    findings.push({
      reason: 'unchanged',
      text: 'The object was handled in its present state: its essence has not changed since then.',
    });
  } else {
    findings.push({
      reason: 'unknown',
      text: `The object has changed since it was last handled (${listText(changed)}), and nothing has handled the change yet.`,
    });
  }
  return findings;
}
