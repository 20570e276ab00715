/** The package of OpenTelemetry that the user has, or has not. */
// By another name: bundles of operators often begin with an import of this one, and cannot have two.
import { createRequire as requireFrom } from 'node:module';
import { KopfError } from '@kopf-ts/core';
import type { OpenTelemetryApi } from './otel-api.js';

type Require = (name: string) => unknown;

/** Both forms of the package, for `import` and for `require`, share all their state: so this one will do for anybody. */
export function loadApi(require: Require = requireFrom(import.meta.url)): OpenTelemetryApi {
  try {
    return require('@opentelemetry/api') as OpenTelemetryApi;
  } catch (error) {
    throw new KopfError(
      'Traces need the package @opentelemetry/api, and it cannot be loaded: install it by `npm install @opentelemetry/api`, ' +
        'together with an SDK, such as @opentelemetry/sdk-node. In a bundle, import it yourself, and pass it on: ' +
        'openTelemetry({ api }).',
      { code: 'KOPF_NO_OPENTELEMETRY', cause: error },
    );
  }
}
