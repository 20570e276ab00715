import * as kopf from 'kopf-ts';

/** What the program and its operator share. */
export interface Env extends kopf.Env {
  memo: { readonly found: (name: string) => void };
}

export const registry = kopf.createRegistry<Env>();

registry.on.create('kopfexamples', function tell({ name, memo }) {
  memo.found(name);
});
