/** Watching by a verb: the same streams as those of operators, for as long as somebody reads. */
import { ApiError } from '../../errors.js';
import type { ApiEvent } from '../../seams/api.js';
import type { KubeClient } from '../../seams/client.js';
import type { Clock } from '../../seams/clock.js';
import type { Logger } from '../../seams/logger.js';
import { settings as defaultSettings, type Settings } from '../../settings.js';
import { childController } from '../../sync/abort.js';
import type { AnyObject } from '../../values/objects/body.js';
import type { WatchTarget } from '../../values/resources/watch-target.js';
import { retryable } from '../retryable.js';
import { watch } from '../watch/watch.js';

export interface VerbWatchOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly settings?: Pick<Settings, 'watching' | 'networking'> | undefined;
  readonly signal: AbortSignal | undefined;
  readonly pageSize: number | undefined;
  /** Says what was asked for. */
  readonly titled: (error: ApiError) => ApiError;
}

/** Ends with the signal or with the reader. What is refused before anything was listed is an error. */
export async function* watchByVerb(
  client: KubeClient,
  target: WatchTarget,
  options: VerbWatchOptions,
): AsyncGenerator<ApiEvent, void, void> {
  const { clock, logger = SILENT, settings = defaultSettings(), signal, pageSize, titled } = options;
  const watching = childController(signal);
  let refusal: ApiError | undefined;
  let isListed = false;
  const isDecisive = (error: Error | undefined): error is ApiError =>
    !isListed && error instanceof ApiError && retryable(error) !== 'later';
  try {
    const stream = watch(client, target, {
      clock,
      logger,
      settings,
      signal: watching.signal,
      pageSize,
      isReportedElsewhere: isDecisive,
      onTrouble(error) {
        if (!isDecisive(error)) return;
        refusal = error;
        watching.abort(error);
      },
    });
    for await (const event of stream) {
      if (event.type === 'LISTED') isListed = true;
      else if (event.type !== 'REWOUND') yield { type: event.type ?? 'LISTED', object: event.object as AnyObject };
    }
  } finally {
    watching.dispose();
  }
  if (refusal !== undefined && !signal?.aborted) throw titled(refusal);
}

const nothing = (): void => {};
const SILENT: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  isEnabled: () => false,
  child: () => SILENT,
};
