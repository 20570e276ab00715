/** The whole program. */
import type { Logger } from '@kopf-ts/core';
import { registry } from './handlers.js';
import { smallOperator } from './operator.js';

const logger: Logger = { ...console, debug() {}, child: () => logger };
const operator = smallOperator({ registry, namespaces: ['default'], logger });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void operator.stop());
await operator.done;
