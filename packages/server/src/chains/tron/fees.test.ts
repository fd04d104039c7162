import { expect, test } from 'vitest';
import { FeeCeilingReached } from '../port/port-errors.ts';
import { settledEnergy } from './estimates.ts';
import { type CallUse, limitFor } from './fees.ts';
import type { TronNetwork } from './network.ts';

const TRX = 1_000_000n;
const limitOf = (use: CallUse, energy: bigint | null, feeLimit = 100n * TRX) => {
  const network: TronNetwork = {
    name: 'Tron',
    isTest: true,
    endpoints: [],
    genesisHash: '',
    tokens: {},
    collector: null,
    feeCeilings: { feeLimit },
    explorer: null,
  };
  return limitFor(network, { energy, use, price: 100n });
};

test('a fee limit is the estimate and a fifth, and never less than what the recipient may make of it', () => {
  for (const [use, energy, sun] of [
    ['transfer', 65_000n, 15_720_000n],
    ['transfer', 200_000n, 24_000_000n],
    ['sweep', 65_000n, 7_800_000n],
    ['sweep', null, 15_720_000n],
    ['activate', null, 12_000_000n],
    // With room for a hot wallet that holds nothing any more.
    ['charge', 110_000n, 21_120_000n],
    ['charge', 1n, 15_720_000n],
    ['charge', null, 30_000_000n],
  ] as const)
    expect(limitOf(use, energy), `${use} ${energy}`).toBe(sun);
  expect(() => limitOf('charge', 110_000n, 21_119_999n)).toThrow(FeeCeilingReached);
});

test('what a call uses is the word of the operator’s own node, or of two that are near to each other', () => {
  for (const [told, energy] of [
    [[65_000n], 65_000n],
    [[null], null],
    [[], null],
    [[65_000n, null], null],
    // The dearer one of two, and neither where they are apart.
    [[65_000n, 81_250n], 81_250n],
    [[65_000n, 81_251n], null],
    [[1n, 65_000n], null],
    // A third says who is right, in both directions.
    [[1n, 65_000n, 64_000n], 65_000n],
    [[9_000_000n, 64_000n, 65_000n], 65_000n],
    [[null, 64_000n, 65_000n], 65_000n],
    [[0n, 0n], 0n],
  ] as const)
    expect(settledEnergy(told), told.join()).toBe(energy);
});
