import { generateKeyPairSync } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { approverPublicKey } from './approver-files.ts';

/** For tests: two approvers with their keys, and a policy of small limits. */
export const ADA = generateKeyPairSync('ed25519').privateKey;
export const BOB = privateKeyToAccount(`0x${'0b'.repeat(32)}`);
export const USDT = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const USDC = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';

interface PaymentsText {
  per_transfer: string;
  per_hour: string;
  per_day: string;
  per_merchant_day: string;
  approve_above?: string;
  approvals?: number;
  unapproved_per_day?: string;
  resend_per_day?: string;
}

interface PolicyText {
  florin_policy: 1;
  networks: {
    erc20: {
      chain_id: number;
      tokens: { USDT?: string; USDC?: string };
      batch_payout?: string;
      collector?: string;
      cold_owners?: Record<string, string>;
      node?: string;
      max_fee_per_gas: string;
      max_priority_fee_per_gas: string;
      gas_per_transaction: number;
      native_fee_per_day: string;
      gas_top_up: string;
      gas_top_ups_per_day: string;
      approve_ceiling: string;
    };
    trc20?: {
      genesis: string;
      tokens: { USDT?: string; USDC?: string };
      collector?: string;
      fee_limit: string;
      native_fee_per_day: string;
      native_fee_per_merchant_day?: string;
      gas_top_up: string;
      gas_top_ups_per_day: string;
      accounts?: Record<string, string>;
    };
    spl?: {
      genesis: string;
      tokens: { USDT?: string; USDC?: string };
      compute_units: number;
      priority_fee: string;
      native_fee_per_day: string;
      native_fee_per_merchant_day?: string;
      allow_program_owned?: boolean;
      node?: string;
      charges?: { per_transfer: string; per_day: string; per_merchant_day?: string; resend_per_day?: string };
      accounts?: Record<string, string>;
    };
  };
  payouts: PaymentsText;
  refunds: PaymentsText;
  approvers: {
    name: string;
    ed25519?: string;
    ethereum?: string;
    passkeys?: { key: string; rp_id: string; origin: string }[];
  }[];
  accounts?: Record<string, string>;
  freeze_after_refusals?: number;
  learned_per_day?: number;
}

/** As an installation has it that pays on all networks. */
export function allNetworksText() {
  const text = policyText();
  const trc20: NonNullable<PolicyText['networks']['trc20']> = {
    genesis: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
    tokens: { USDT: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    collector: 'TGjYzgCyPobsNS9n6WcbdLVR9dH7mWqFx7',
    fee_limit: '100000000',
    native_fee_per_day: '5000000000',
    gas_top_up: '20000000',
    gas_top_ups_per_day: '50000000',
  };
  const spl: NonNullable<PolicyText['networks']['spl']> = {
    // Devnet's: on mainnet wallets are not charged.
    genesis: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    tokens: {
      USDT: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
      USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    },
    compute_units: 400_000,
    // Nothing listens there: the budgets decide.
    node: 'http://127.0.0.1:1',
    priority_fee: '100000',
    native_fee_per_day: '100000000',
    charges: { per_transfer: '200', per_day: '500', resend_per_day: '100' },
  };
  return { ...text, networks: { erc20: text.networks.erc20, trc20, spl } };
}

export function policyText(): PolicyText {
  const limits = { per_transfer: '1000', per_hour: '5000', per_day: '10000', per_merchant_day: '8000' };
  return {
    florin_policy: 1,
    networks: {
      erc20: {
        chain_id: 31_337,
        tokens: { USDT, USDC },
        batch_payout: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
        collector: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
        max_fee_per_gas: '200000000000',
        max_priority_fee_per_gas: '10000000000',
        gas_per_transaction: 16_000_000,
        native_fee_per_day: '5000000000000000000',
        gas_top_up: '100000000000000000',
        gas_top_ups_per_day: '1000000000000000000',
        approve_ceiling: '1000000',
      },
    },
    payouts: { ...limits },
    refunds: { ...limits, approve_above: '100.00', resend_per_day: '50' },
    approvers: [
      { name: 'ada', ed25519: approverPublicKey(ADA) },
      { name: 'bob', ethereum: BOB.address },
    ],
  };
}
