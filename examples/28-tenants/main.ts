/** An operator for the namespaces of tenants: those with a label. They may get it and lose it at any time. */
import { pathToFileURL } from 'node:url';
import * as kopf from 'kopf-ts';
import { registry } from './handlers.js';

export function operatorForTenants(options: kopf.OperatorOptions = {}): kopf.Operator {
  return kopf.operator({ registry, namespaces: { labels: { 'example.com/tenant': true } }, ...options });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await operatorForTenants().done;
