/** The expectations are answers of kube-apiserver 1.36.4 to exactly these configurations, recorded once. */
import { expect, it } from 'vitest';
import { validateWebhooks } from '../../src/admission/configuration.js';
import type { Cause, ServedObject } from '../../src/contracts/objects.js';
import recorded from './recorded/configurations.json' with { type: 'json' };

interface Recorded {
  readonly title: string;
  readonly configuration: ServedObject;
  readonly status: number;
  readonly causes: readonly Cause[];
}

it.each(recorded as unknown as readonly Recorded[])('is judged as by the real server: $title', (row) => {
  expect(validateWebhooks(row.configuration)).toEqual(row.causes);
  expect(row.status).toBe(row.causes.length === 0 ? 201 : 422);
});
