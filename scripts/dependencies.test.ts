import { expect, test } from 'vitest';
import {
  inexactVersions,
  isAllowed,
  licenceFaults,
  shippedTestLibraries,
  unlistedScripts,
} from './dependencies.ts';

test('only exact versions pass, aliases and releases before one included', () => {
  const dependencies = { a: '1.2.3', b: 'npm:@scope/b@15.18.0-beta.17', c: 'npm:c@1.0.0' };
  expect(inexactVersions({ dependencies })).toEqual([]);
  const devDependencies = { d: '^1.2.3', e: '~1.2.3', f: '1.x', g: '*', h: 'latest', i: '1.2', j: '>=1.2.3' };
  const peerDependencies = { k: 'npm:k@^1.0.0', l: 'github:a/b', m: '' };
  expect(inexactVersions({ devDependencies, peerDependencies })).toEqual(
    Object.entries({ ...devDependencies, ...peerDependencies }).map(([name, range]) => `${name}@${range}`),
  );
});

test('an install script that nobody has decided on is named, also of a nested package or an alias', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/quiet': {},
      'node_modules/allowed': { hasInstallScript: true },
      'node_modules/denied': { hasInstallScript: true },
      'node_modules/alias': { name: 'allowed', hasInstallScript: true },
      'node_modules/quiet/node_modules/@scope/new': { hasInstallScript: true },
    },
  };
  expect(unlistedScripts(lock, { allowed: true, denied: false })).toEqual(['@scope/new']);
});

test('a library for tests alone is refused where an installation would get it, however deep', () => {
  const lock = {
    packages: {
      'node_modules/tronweb': { dev: true },
      'node_modules/shipped': {},
      'node_modules/shipped/node_modules/tronweb': {},
      'node_modules/vm': { name: 'litesvm' },
    },
  };
  expect(shippedTestLibraries(lock)).toEqual([
    'node_modules/shipped/node_modules/tronweb is a dependency of what is shipped',
    'node_modules/vm is a dependency of what is shipped',
  ]);
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0)', true],
  ['(MIT AND GPL-3.0)', false],
  ['MIT AND ISC', true],
  ['GPL-3.0', false],
  ['UNKNOWN', false],
  ['', false],
  ['MIT*', true],
  ['Custom: MITigated', false],
])('licence %j: allowed %j', (expression, allowed) => {
  expect(isAllowed(expression, new Set(['MIT', 'ISC']))).toBe(allowed);
});

test('a licence is refused where it is shipped, and so is a package that nobody looked at', () => {
  const lock = {
    packages: {
      '': { version: '0.1.0' },
      'packages/own': { version: '0.1.0' },
      'node_modules/own': { link: true },
      'node_modules/shipped': { version: '1.0.0' },
      'node_modules/words': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dev: true },
      'node_modules/tool/node_modules/closed': { version: '2.0.0', dev: true },
      'node_modules/unseen': { version: '1.0.0' },
      'node_modules/elsewhere': { version: '1.0.0' },
    },
  };
  const found = {
    'shipped@1.0.0': { licenses: ['MIT', 'ISC'] },
    'words@1.0.0': { licenses: 'CC-BY-3.0' },
    'tool@1.0.0': { licenses: 'CC-BY-3.0' },
    'closed@2.0.0': { licenses: 'GPL-3.0' },
  };
  expect(licenceFaults(lock, found, (place) => !place.endsWith('elsewhere'))).toEqual([
    'node_modules/words: CC-BY-3.0',
    'node_modules/tool/node_modules/closed: GPL-3.0',
    'node_modules/unseen: not seen by the licence checker',
  ]);
});
