/** Any number of these can be started: one of them works. */
import * as kopf from 'kopf-ts';
import './handlers.js';

await kopf.run({
  peering: kopf.peering.leasePeering({ name: 'kopf-example', namespace: 'default' }),
  clusterwide: true,
});
