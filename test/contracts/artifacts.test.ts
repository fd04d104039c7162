import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as artifacts from '../../contracts/artifacts/index.ts';
import { compileContracts, contractFaults } from '../../scripts/solidity.ts';
import { ROOT } from '../../scripts/step.ts';

test('the committed bytecode and interfaces are what the sources compile to', () => {
  expect(Object.fromEntries(compileContracts())).toEqual({ ...artifacts });
}, 300_000);

test('the digests beside the artifacts are those of sources, settings and artifacts', () => {
  expect(contractFaults()).toEqual([]);
});

test('the readme names every contract', () => {
  const readme = readFileSync(path.join(ROOT, 'contracts/README.md'), 'utf8');
  for (const name of Object.keys(artifacts)) expect(readme).toContain(`\`${name}\``);
});
