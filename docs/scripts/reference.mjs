/** Writes the reference of all packages to `docs/reference`, from their sources: `node docs/scripts/reference.mjs`. */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, Converter, LogLevel, ReflectionKind } from 'typedoc';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'docs/reference');

/** Everything that users can import, by the names that they import it by. The kinds of Kubernetes have a page of their own. */
const modules = {
  'kopf-ts': 'packages/kopf-ts/src/index.ts',
  'kopf-ts/testing': 'packages/kopf-ts/src/testing.ts',
  ...Object.fromEntries(
    readdirSync(join(root, 'packages'))
      .filter((name) => name !== 'kopf-ts' && name !== 'kinds')
      .sort()
      .map((name) => [`@kopf-ts/${name}`, `packages/${name}/src/index.ts`]),
  ),
  '@kopf-ts/core/engine': 'packages/core/src/engine.ts',
};
/** As typedoc calls them, by their places. */
const names = new Map(Object.entries(modules).map(([name, file]) => [file.replace(/(?:\/index)?\.ts$/, ''), name]));

const app = await Application.bootstrapWithPlugins({
  entryPoints: Object.values(modules).map((file) => join(root, file)),
  tsconfig: join(root, 'docs/scripts/tsconfig.reference.json'),
  basePath: root,
  plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
  out,
  docsRoot: join(root, 'docs'),
  readme: 'none',
  name: 'Reference',
  cleanOutputDir: true,
  skipErrorChecking: true,
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  logLevel: LogLevel.Error,
  sidebar: { autoConfiguration: true, format: 'vitepress', pretty: false, collapsed: true },
});
app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
    module.name = names.get(module.name) ?? module.name;
  }
});
const project = await app.convert();
if (project === undefined) throw new Error('The sources cannot be read.');
await app.generateOutputs(project);
renameIndices();
writeFileSync(join(out, 'index.md'), frontPage());
if (app.logger.hasErrors()) process.exitCode = 1;

/** For the site, a page named `Index` is the front page of its folder, as `index` is: links to it would lead nowhere. */
function renameIndices() {
  const pages = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.name.endsWith('.md'),
  );
  for (const { parentPath, name } of pages) {
    const file = join(parentPath, name);
    const text = readFileSync(file, 'utf8');
    if (/\bIndex\.md\b/.test(text)) writeFileSync(file, text.replace(/\bIndex\.md\b/g, 'Index-.md'));
    if (name === 'Index.md') renameSync(file, join(parentPath, 'Index-.md'));
  }
}

/** What each module is, in the first sentence of its sources. */
function frontPage() {
  const rows = Object.entries(modules).map(
    ([name, file]) => `| [\`${name}\`](${name}/index.md) | ${firstSentence(file)} |`,
  );
  return `# Reference

All public names of all packages, written from the comments in their sources. Most operators need only \`kopf-ts\`, and their tests
\`kopf-ts/testing\`; the other packages are the parts that these are made of. The kinds of Kubernetes in \`@kopf-ts/kinds\` have no pages here:
see [Resources](../guide/resources.md#built-in-kinds).

| module | what it is |
| ------ | ---------- |
${rows.join('\n')}
`;
}

function firstSentence(file) {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  const [sentence] = /^.*?\.(?=\s|$)/.exec(comment.replace(/\s*\n\s*\*?\s*/g, ' ').trim()) ?? [];
  if (sentence === undefined) throw new Error(`${file} does not begin with a sentence about it.`);
  return sentence.replaceAll('|', '\\|');
}
