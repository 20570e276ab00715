/**
 * Only what Biome cannot do: rules that need types, and the import fences.
 * Formatting and all other rules are Biome's (biome.json).
 */
import tseslint from 'typescript-eslint';
import { faces, layers } from './.ci/layers.mjs';

const throughExports = {
  group: [
    '@kopf-ts/*/src',
    '@kopf-ts/*/src/*',
    '@kopf-ts/*/dist',
    '@kopf-ts/*/dist/*',
    'kopf-ts/src/*',
    'kopf-ts/dist/*',
  ],
  message: 'Packages are entered by their exports only.',
};
const withinThePackage = {
  regex: String.raw`^(\.\./)+(packages/)?[\w-]+/(src|dist)/`,
  message: 'Import another package by its name.',
};

/** The same table as the graph fence reads; here it underlines the import in the editor. */
const layerFences = Object.entries(layers).map(([layer, allowed]) => {
  const others = [...Object.keys(layers), ...faces].filter((other) => other !== layer && !allowed.includes(other));
  return {
    files: [`packages/core/src/${layer}.ts`, `packages/core/src/${layer}/**/*.ts`],
    rules: {
      '@typescript-eslint/no-restricted-imports': restricted({
        regex: String.raw`^(\./|(\.\./)+)(${others.join('|')})(/|\.js$)`,
        message: `In core, '${layer}' may import only itself${allowed.map((other) => `, ${other}`).join('')}: see .ci/layers.mjs.`,
      }),
    },
  };
});

function restricted(...patterns) {
  return ['error', { patterns: [throughExports, withinThePackage, ...patterns] }];
}

export default tseslint.config(
  { ignores: ['**/dist/**', '**/coverage/**', '**/node_modules/**', '**/*.{js,mjs,cjs}'] },
  {
    files: ['**/*.ts'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parser: tseslint.parser,
      // One program for everything, tests included: packages' own tsconfigs have only their sources.
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // What is caught is unknown, and may be thrown again.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
      '@typescript-eslint/no-restricted-imports': restricted(),
    },
  },
  ...layerFences,
);
