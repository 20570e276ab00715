/**
 * The inner layers of `core`, and what each of them may import from the others.
 *
 * `values < seams < intents < execution`, with `observing`, `cluster` and `sync` beside: the first column never imports what is
 * written after it. `.ci/graph.mjs` reads this table.
 *
 * `settings` may be imported from everywhere but `values`, and itself names the seams it configures; which of the two
 * a layer does is its own choice, as long as no circle arises: the graph fence looks at the real imports for that.
 */
export const layers = {
  errors: [],
  values: ['errors'],
  settings: ['values', 'seams', 'errors'],
  seams: ['values', 'errors', 'settings'],
  observing: ['values', 'seams', 'errors'],
  sync: ['values', 'seams', 'errors', 'settings'],
  cluster: ['values', 'seams', 'observing', 'sync', 'errors', 'settings'],
  intents: ['values', 'seams', 'sync', 'errors', 'settings'],
  execution: ['values', 'seams', 'intents', 'observing', 'sync', 'errors', 'settings'],
};

/** The public faces: they see all the layers, and no layer sees them. */
export const faces = ['index', 'engine'];

/** The layer of a file, by its path inside `core/src`: `values/diff.ts` → `values`, `settings.ts` → `settings`. */
export function layerOf(path) {
  return path.split('/')[0].replace(/\.[cm]?[jt]s$/, '');
}
