/** The handlers are those of the instances. */
import * as kopf from 'kopf-ts';
import { Accountant, registry } from './handlers.js';

const ledger: string[] = [];
new Accountant('Ada');
await kopf.run({ registry, memo: { ledger }, clusterwide: true });
console.log(ledger.join('\n'));
