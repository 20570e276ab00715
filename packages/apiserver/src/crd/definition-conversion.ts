/** The conversion between versions. Only `None` is served here; webhooks are checked, and refused by nobody. */
import { getOwn, isMapping } from '@kopf-ts/core';
import type { Cause } from '../contracts/objects.js';
import { forbiddenField, invalidValue, notSupported, required } from '../text/field-causes.js';

/** What is wrong with `spec.conversion`. */
export function validateConversion(conversion: unknown): readonly Cause[] {
  if (!isMapping(conversion)) return [];
  const path = 'spec.conversion';
  const strategy = getOwn(conversion, 'strategy') ?? '';
  const webhook = getOwn(conversion, 'webhook');
  const client = isMapping(webhook) ? getOwn(webhook, 'clientConfig') : undefined;
  const listed = isMapping(webhook) ? getOwn(webhook, 'conversionReviewVersions') : undefined;
  const versions = Array.isArray(listed) ? listed.map(String) : [];
  if (strategy === '') return [required(`${path}.strategy`)];
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported(`${path}.strategy`, strategy, ['None', 'Webhook'])];
  }
  if (strategy === 'None') {
    const why = 'should not be set when strategy is not set to Webhook';
    return [
      ...(isMapping(client) ? [forbiddenField(`${path}.webhookClientConfig`, why)] : []),
      ...(versions.length > 0 ? [forbiddenField(`${path}.conversionReviewVersions`, why)] : []),
    ];
  }
  const causes: Cause[] = [];
  if (!isMapping(client)) {
    causes.push(required(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  } else if ((getOwn(client, 'url') === undefined) === (getOwn(client, 'service') === undefined)) {
    causes.push(required(`${path}.webhookClientConfig`, 'exactly one of url or service is required'));
  }
  if (versions.length === 0) causes.push(required(`${path}.conversionReviewVersions`));
  else if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    causes.push(invalidValue(`${path}.conversionReviewVersions`, versions, 'must include at least one of v1, v1beta1'));
  }
  return causes;
}
