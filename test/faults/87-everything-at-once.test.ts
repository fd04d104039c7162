import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { planRounds } from './seeded-plan.ts';
import { runSeed } from './seeded-run.ts';

const SEEDS = scaled(10_000, 1);
const ROUNDS = scaled(12, 7);
const SEED_MAX = 2 ** 32;

test('fault 86, fault 87: a seed stands for the same rounds each time', () => {
  expect(planRounds(7, 50, 2)).toEqual(planRounds(7, 50, 2));
  expect(planRounds(8, 50, 2)).not.toEqual(planRounds(7, 50, 2));
});

test(`fault 86, fault 87: faults in random order under load, ${SEEDS} seeds`, {
  timeout: SEEDS * 400_000,
}, async () => {
  for (let i = 0; i < SEEDS; i++) {
    const seed = randomInt(SEED_MAX);
    console.log(`npm run faults -- --seed ${seed} --rounds ${ROUNDS}`);
    const verdict = await runSeed({ seed, rounds: ROUNDS });
    expect(verdict.findings).toEqual([]);
    expect(verdict).toMatchObject({ lost: 0, duplicates: 0, ledgerMinusChain: '0' });
    expect(verdict.acknowledged).toBeGreaterThan(ROUNDS);
  }
});
