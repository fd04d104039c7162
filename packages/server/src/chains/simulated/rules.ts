import type { Network } from '@florin/contract/money';
import type { ChainCapabilities, FeeEstimate, FeeKind } from '../port/port.ts';

/** The rules of the network that the simulated chain imitates. */
export interface NetworkRules {
  /** Confirmations are a setting of the chain. */
  capabilities: Omit<ChainCapabilities, 'confirmations'>;
  /** Blocks for which a transaction is valid after it was built; absent where it does not expire. */
  validForBlocks?: number;
  validForMs?: number;
  /** Transactions of a sender are numbered and mined in that order. */
  sequenced: boolean;
  estimateFee(kind: FeeKind, items: number): FeeEstimate;
}

const WEI_PER_GAS = 10_000_000_000n;
const SUN_PER_TRANSFER = 64_285n * 100n + 345n * 1_000n;
const LAMPORTS_PER_SIGNATURE = 5_000n;
/** Rent of the recipient's token account: charged as if each recipient were new, the expensive case. */
const LAMPORTS_PER_RECIPIENT = 2_039_280n;

/** Through the collector, for the more expensive token. */
const CHARGE_GAS = 88_300n;

/** Answered in one turn of the event loop: few enough that signing them does not block it for long. */
const CALLS_AT_ONCE = 100;

function erc20Gas(kind: FeeKind, items: number): bigint {
  if (kind === 'charge') return CHARGE_GAS * BigInt(items);
  return items === 1 ? 65_000n : 60_000n + 31_000n * BigInt(items);
}

const REPLACEMENT_NUMERATOR = 9n;
const REPLACEMENT_DENOMINATOR = 8n;

/** The minimum fee of a replacement: an eighth more than the replaced fee, rounded up. */
export const replacementFee = (replaced: bigint): bigint =>
  (replaced * REPLACEMENT_NUMERATOR + REPLACEMENT_DENOMINATOR - 1n) / REPLACEMENT_DENOMINATOR;

/** Limits and fees as measured on a local node of each network (design of the adapters); prices are fixed. */
export const NETWORK_RULES: Readonly<Record<Network, NetworkRules>> = {
  erc20: {
    capabilities: {
      maxItemsPerTx: 200,
      partialBatch: true,
      replaceByFee: true,
      windowCap: true,
      prechecksCharges: false,
      sweepsPerTx: 0,
      lendsStake: false,
      callsAtOnce: CALLS_AT_ONCE,
    },
    sequenced: true,
    estimateFee: (kind, items) => ({ native: erc20Gas(kind, items) * WEI_PER_GAS, unit: 'wei' }),
  },
  trc20: {
    capabilities: {
      maxItemsPerTx: 1,
      partialBatch: false,
      replaceByFee: false,
      windowCap: true,
      prechecksCharges: false,
      sweepsPerTx: 0,
      lendsStake: false,
      callsAtOnce: CALLS_AT_ONCE,
    },
    validForMs: 60_000,
    sequenced: false,
    estimateFee: (_kind, items) => ({ native: SUN_PER_TRANSFER * BigInt(items), unit: 'sun' }),
  },
  spl: {
    capabilities: {
      maxItemsPerTx: 8,
      partialBatch: false,
      replaceByFee: false,
      windowCap: false,
      prechecksCharges: false,
      sweepsPerTx: 0,
      lendsStake: false,
      callsAtOnce: CALLS_AT_ONCE,
    },
    validForBlocks: 150,
    sequenced: false,
    // Our own token account exists, so a charge pays no rent.
    estimateFee: (kind, items) => ({
      native: LAMPORTS_PER_SIGNATURE + (kind === 'charge' ? 0n : LAMPORTS_PER_RECIPIENT * BigInt(items)),
      unit: 'lamport',
    }),
  },
};
