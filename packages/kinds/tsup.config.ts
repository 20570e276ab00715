import { defineConfig } from 'tsup';
import { library } from '../../tsup.base.js';
import manifest from './package.json' with { type: 'json' };

/** A module for each group and version, as `exports` has them. */
const sources = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : [entry['@kopf-ts/source']],
);

export default defineConfig(library(sources));
