/** Keeps the rules of aggregated cluster roles up to date with the roles that they are made of. */
import { applyRules, isAggregated, newRulesOf } from '../authorization/aggregation.js';
import { CLUSTER_ROLES } from '../authorization/rbac.js';
import type { Controller } from '../contracts/controller.js';
import { Worker } from './worker.js';

const USER = 'system:serviceaccount:kube-system:clusterrole-aggregation-controller';

export const roleAggregation: Controller = {
  start({ store, clock, clientAs }) {
    const client = clientAs(USER);
    const worker = new Worker(clock, async (name) => {
      const rules = newRulesOf(store, name);
      if (rules !== undefined) await applyRules(client, name, rules);
    });
    const enqueueAll = (): void => {
      for (const role of store.list(CLUSTER_ROLES)) if (isAggregated(role)) worker.enqueue(role.name);
    };
    enqueueAll();
    return worker.fedBy(store.observe(CLUSTER_ROLES, enqueueAll));
  },
};
