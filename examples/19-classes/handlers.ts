import * as kopf from 'kopf-ts';

/** What handlers share, and what of it belongs to each object. */
export interface Env extends kopf.Env {
  memo: { readonly ledger: string[]; visits?: number };
}

/** Of nobody else: any number of operators, each with handlers of its own, can be in one process. */
export const registry = kopf.createRegistry<Env>();

const Example = kopf.resource<{ field: string }, { visits: number }>({
  group: 'kopf.dev',
  version: 'v1',
  plural: 'kopfexamples',
});

// Decorators cannot tell the types of parameters, so these are named; a wrong one is an error at the decorator.
type Change = kopf.Change<typeof Example, undefined, Env>;
type Daemon = kopf.Daemon<typeof Example, undefined, Env>;

export class Accountant {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  @registry.on.create(Example, { retries: 3 })
  open({ name, spec, memo }: Change): void {
    memo.ledger.push(`${this.#name} opens an account for ${name}: ${spec.field}.`);
  }

  // In parentheses, as esbuild takes `delete` for an operator otherwise.
  @(registry.on.delete(Example))
  close({ name, memo }: Change): void {
    memo.ledger.push(`${this.#name} closes the account of ${name} after ${memo.visits ?? 0} visits.`);
  }

  @registry.timer(Example, { interval: 1 })
  visit({ memo, patch }: Daemon): void {
    memo.visits = (memo.visits ?? 0) + 1;
    patch.status.visits = memo.visits;
  }

  // @ts-expect-error There is no `stopped` for handlers of creation.
  @registry.on.create(Example, { when: () => false })
  mistaken({ stopped }: Daemon): void {
    void stopped;
  }
}
