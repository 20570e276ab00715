import { describe, expect, it } from 'vitest';
import { hostViolations } from '../hosts.mjs';
import { workspace } from './workspace.mjs';

const lockfile = "lockfileVersion: '9.0'\npackages:\n  vitest@4.1.12:\n    resolution: {integrity: sha512-AbC/D==}\n";
const house = {
  'pnpm-lock.yaml': lockfile,
  'README.md': 'See https://kubernetes.io/docs and /home/you/.kube/config.\n',
  'node_modules/x/package.json': { _resolved: 'http://packages.corp.example/x' },
};
const machine = { host: 'packages.corp.example', folders: ['/srv/builds/kopf-ts'] };
const violationsWith = (files) => hostViolations(workspace({ ...house, ...files }), machine);

// Put together here, so that the fence does not stumble over its own test.
const registry = ['registry', 'npmjs', 'org'].join('.');
const home = (name) => ['', 'home', name, 'project'].join('/');

describe('the hosts fence', () => {
  it('lets a repository pass that could be from anywhere', () => {
    expect(violationsWith({})).toEqual([]);
  });

  it.each([
    ['a host', '    resolved: http://other.example/x\n', /the lockfile names a host/],
    ['a git repository', '    resolution: {repo: git+ssh://other.example/x}\n', /the lockfile names a host/],
    ['a tarball', '    resolution: {tarball: x}\n', /the lockfile names a tarball/],
    ['a folder', '    version: file:/opt/x\n', /a path of this machine/],
  ])('refuses a lockfile that names %s', (_, line, message) => {
    expect(violationsWith({ 'pnpm-lock.yaml': lockfile + line })[0]).toMatch(message);
  });

  it.each([
    ['a public registry', `see ${registry}`],
    ['a configured registry', `@scope:${'registry'}=x`],
    ['a tarball', `http://other.example/x${'.tgz'}`],
    ["somebody's home", `cd ${home('alice')}/x`],
    ["this machine's registry", 'http://packages.corp.example/'],
    ["this machine's folder", 'at /srv/builds/kopf-ts/packages/core'],
  ])('refuses a file that names %s', (_, text) => {
    expect(violationsWith({ 'docs/page.md': `one\n${text}\n` })).toEqual([
      expect.stringMatching(/^docs\/page\.md:2 has /),
    ]);
  });

  it('looks neither into dependencies nor into builds', () => {
    expect(violationsWith({ 'packages/core/dist/index.js.map': home('alice') })).toEqual([]);
  });
});
