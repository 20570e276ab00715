/** What discovery needs, besides what all parts of an operator have. */
import type { ConnectionLimiter, ServerCapabilities } from '@kopf-ts/core/engine';
import type { OperatorParts } from '../parts.js';
import type { Health } from '../probing/health.js';
import type { LiveInsights } from './insights.js';
import type { LearnedStatusSchemas } from './status-schemas.js';

export interface DiscoveryParts extends OperatorParts {
  readonly insights: LiveInsights;
  readonly statusSchemas: LearnedStatusSchemas;
  readonly health: Health;
  readonly capabilities?: ServerCapabilities | undefined;
  readonly limiter?: ConnectionLimiter | undefined;
}
