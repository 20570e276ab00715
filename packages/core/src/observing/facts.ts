/**
 * Telling the observers. Who tells asks first whether anybody wants to know: so what nobody wants costs one look at
 * a property, and nothing is made for it.
 */
import { describeError, KopfError, toError } from '../errors.js';
import type { Clock } from '../seams/clock.js';
import type { Fact, FactKind, Observer, UntoldFact } from '../seams/inspection/observer.js';
import type { Logger } from '../seams/logger.js';

/**
 * Where facts are told.
 *
 * ```ts
 * if (facts.wants['stream.opened']) facts.tell({ kind: 'stream.opened', stream, version });
 * ```
 *
 * Nothing comes back from it: the work goes on in the same way, whether the fact is wanted or not.
 */
export interface Facts {
  readonly wants: Readonly<Record<FactKind, boolean>>;
  tell(fact: UntoldFact): void;
}

const NOTHING: Readonly<Record<FactKind, boolean>> = Object.freeze({
  'stream.opened': false,
  'stream.listed': false,
  'stream.event': false,
  'stream.bookmark': false,
  'stream.lagging': false,
  'stream.failed': false,
  'stream.phase': false,
  'object.cause': false,
  'object.phase': false,
  'object.waiting': false,
  'object.woken': false,
  'object.failed': false,
  'object.gone': false,
  'object.superseded': false,
  'object.paused': false,
  'breaker.tripped': false,
  'handler.considered': false,
  'call.began': false,
  'call.returned': false,
  'call.settled': false,
  'call.ended': false,
  'patch.sent': false,
  'patch.failed': false,
  'patch.dropped': false,
  'writes.failed': false,
  'writes.recovered': false,
  'daemon.started': false,
  'daemon.stopping': false,
  'daemon.stopped': false,
  'daemon.waiting': false,
  'review.answered': false,
  'review.refused': false,
  'webhook.refused': false,
  'webhook.certified': false,
  'peering.ruled': false,
  'peering.left': false,
  'indexing.ready': false,
  'login.ended': false,
  'discovery.revised': false,
  'discovery.failed': false,
  'request.retried': false,
  'request.ended': false,
  'error.stray': false,
});

/** All kinds of facts there are. */
export const FACT_KINDS: readonly FactKind[] = Object.freeze(Object.keys(NOTHING) as FactKind[]);

/** For parts that are used without an operator: nobody wants anything. */
export const NO_FACTS: Facts = Object.freeze({ wants: NOTHING, tell() {} });

export interface FactsOptions {
  readonly observers: readonly Observer[];
  /** The identity of the operator. */
  readonly operator: string;
  readonly clock: Clock;
  /** Where observers that throw are reported. */
  readonly logger: Logger;
}

/** The facts of an operator: its observers may also come when it has started. */
export interface ObservedFacts extends Facts {
  /** The observer is told what happens from now on. */
  add(observer: Observer): void;
}

export function facts({ observers, operator, clock, logger }: FactsOptions): ObservedFacts {
  const wants: Record<FactKind, boolean> = { ...NOTHING };
  const byKind = new Map<FactKind, Observer[]>();
  const add = (observer: Observer): void => {
    refuseMistakes(observer);
    for (const kind of observer.wants === 'all' ? FACT_KINDS : new Set(observer.wants)) {
      wants[kind] = true;
      byKind.set(kind, [...(byKind.get(kind) ?? []), observer]);
    }
  };
  for (const observer of observers) add(observer);
  const reported = new WeakSet<Observer>();

  const report = (observer: Observer, fact: Fact, thrown: unknown): void => {
    if (reported.has(observer)) return;
    reported.add(observer);
    const error = toError(thrown);
    try {
      logger.error(
        `An observer failed on the fact '${fact.kind}': ${describeError(error)}. ` +
          'The operator goes on, and the observer gets the next facts; its further errors are not reported.',
        { error },
      );
    } catch {
      // A logger that throws must not make an observer matter.
    }
  };

  return {
    wants,
    add,
    tell(untold) {
      const listening = byKind.get(untold.kind);
      if (listening === undefined) return;
      const fact = untold as UntoldFact & { operator: string; at: number };
      fact.operator = operator;
      fact.at = clock.now();
      Object.freeze(fact);
      for (const observer of listening) {
        try {
          const returned: unknown = observer.observe(fact);
          // By the types, it returns nothing; but an async function fits them, and must not harm either.
          if (returned instanceof Promise) returned.catch((thrown: unknown) => report(observer, fact, thrown));
        } catch (thrown) {
          report(observer, fact, thrown);
        }
      }
    },
  };
}

function refuseMistakes({ wants, observe }: Observer): void {
  const refuse = (what: string): never => {
    throw new KopfError(`An observer ${what}.`, { code: 'KOPF_OBSERVER' });
  };
  if (typeof observe !== 'function') refuse('needs a function `observe`');
  if (wants !== 'all' && !Array.isArray(wants)) refuse("needs `wants`: a list of the kinds of facts, or 'all'");
  const unknown = wants === 'all' ? undefined : wants.find((kind) => !Object.hasOwn(NOTHING, kind));
  if (unknown === undefined) return;
  refuse(
    `wants facts that do not exist: there are no facts of the kind '${unknown}'; there are ${FACT_KINDS.join(', ')}`,
  );
}
