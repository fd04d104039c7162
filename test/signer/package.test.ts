import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { batchPayoutDeployment } from '../../packages/signer/src/index.ts';
import { readPolicy } from '../../packages/signer/src/policy.ts';
import { statementOf, statementText } from '../../packages/signer/src/statement.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PACKAGES_MAX = 25;

interface Locked {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
);

/** Where Node finds a package from a folder. */
function resolve(from: string, name: string): string {
  for (
    let folder = from;
    ;
    folder = folder.includes('/node_modules/') ? folder.slice(0, folder.lastIndexOf('/node_modules/')) : ''
  ) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[place] !== undefined) return place;
    if (folder === '') throw new Error(`${name} of ${from} is not locked`);
  }
}

test('the signer installs 25 packages at most', () => {
  const found = new Set<string>();
  const visit = (place: string) => {
    const { dependencies = {}, optionalDependencies = {} } = lock.packages[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const next = resolve(place, name);
      if (!found.has(next)) visit(found.add(next) && next);
    }
  };
  visit('packages/signer');
  expect([...found].some((place) => place.endsWith('@noble/curves'))).toBe(true);
  expect(found.size).toBeLessThanOrEqual(PACKAGES_MAX);
});

test('the statement of the manual is the one that is signed', () => {
  const page = readFileSync(path.join(ROOT, 'docs/signer.md'), 'utf8');
  const [statement = '', items = ''] = [...page.matchAll(/```text\n([\s\S]*?)```/g)].map(
    ([, block]) => block,
  );
  const rows = items.split('\n').filter(Boolean);
  const text = statementText(
    statementOf(
      {
        kind: 'payout',
        merchant: '01890000-0000-7000-8000-000000000001',
        id: '01890000-0000-7000-8000-0000000000aa',
        network: 'erc20',
        asset: 'USDT',
        items: rows.map((row) => {
          const [place, , , to, amount, memo] = JSON.parse(row);
          return { place, to, amount, memo };
        }),
      },
      1_790_000_000,
    ),
  );
  expect(rows).toHaveLength(2);
  expect(text).toBe(statement);
});

test('the policy of the manual is a sound one, with the address of our payout contract', () => {
  const page = readFileSync(path.join(ROOT, 'docs/signer.md'), 'utf8');
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  expect(readPolicy(json).erc20.batchPayout).toBe(batchPayoutDeployment().address);
  // What the next part shows stands beside it.
  const [, [, more = ''] = []] = [...page.matchAll(/```json\n([\s\S]*?)```/g)];
  const whole = JSON.parse(json);
  const { trc20, spl } = readPolicy(
    JSON.stringify({ ...whole, networks: { ...whole.networks, ...JSON.parse(more) } }),
  );
  expect([trc20?.feeLimit, spl?.charges?.perDay]).toEqual([100_000_000n, 5_000_000_000n]);
});
