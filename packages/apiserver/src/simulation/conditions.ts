/** Conditions of statuses. */

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export const findCondition = <C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type);

/** The condition instead of the one of its type, or after all others; its time is that of the last change of the status. */
export function withCondition<C extends Condition>(conditions: readonly C[], condition: C, now: string): readonly C[] {
  const old = findCondition(conditions, condition.type);
  const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
  const next = { ...condition, lastTransitionTime };
  return old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one));
}
