import { type Asset, NETWORKS, type Network } from '@florin/contract/money';
import type { Db } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { TOKEN_CONTRACTS } from './addresses/token-contracts.ts';
import {
  findLiveChain,
  type LiveNetworks,
  type NetworkFacts,
  type SignedText,
  type Tank,
} from './live-chains.ts';
import type { PayerCalls } from './payer-wallets.ts';
import type { Chain } from './port/port.ts';
import type { WalletHolder } from './port/wallet-holder.ts';
import { BatchedCalls } from './simulated/batched-calls.ts';
import { SimulatedHolder } from './simulated/holder.ts';
import { openSimulatedChain, type SimulatedChain } from './simulated/simulated-chain.ts';
import type { SimulatedTiming } from './simulated/timing.ts';
import { simulatedSignature } from './simulated/wallet.ts';

export interface ChainOwner {
  merchantId: string;
  mode: 'sandbox' | 'live';
}

/** Gives the chain that a merchant's money moves on. Calls are cheap: a chain is not a connection. */
export interface ChainRegistry {
  /**
   * @throws Fail `service_unavailable` for a live merchant on a network that this installation has no node for, or that the
   *   merchant has no account on
   */
  of(merchant: ChainOwner, network: Network): Chain;
  /** The network as payers' wallets must know it; undefined where this installation has no node for it. */
  facts(merchant: Pick<ChainOwner, 'mode'>, network: Network): NetworkFacts | undefined;
  /** Whether a merchant's money has no value: its pages then say so. */
  isTest(merchant: Pick<ChainOwner, 'mode'>): boolean;
  /** Whether payers can pay this merchant in that token on that network. */
  takes(merchant: ChainOwner, option: { currency: Asset; network: Network }): Promise<boolean>;
  /**
   * `Chain.unpayableAddresses` of the merchant's chain; empty where it has none, as a payout can be drafted before its
   * network is set up.
   */
  unpayableAddresses(merchant: ChainOwner, network: Network): Promise<readonly string[]>;
  /** `LiveChains.readTank`; undefined where this installation has no network with real money. */
  readTank(network: Network): Promise<Tank | undefined>;
  /** Whether that wallet signed the text; false where this installation has no node. @throws ChainUnavailable */
  isSignedText(merchant: Pick<ChainOwner, 'mode'>, network: Network, signed: SignedText): Promise<boolean>;
  /** As of `LiveChains`; no wallet of a browser knows simulated networks. */
  payerCalls(merchant: Pick<ChainOwner, 'mode'>, network: Network): PayerCalls | undefined;
  /** The holder of the keys of a merchant's wallets; undefined where this installation has none. */
  holder(merchant: ChainOwner): WalletHolder | undefined;
  /** Reads accounts again: another process has given a merchant a new hot wallet. */
  refresh(): Promise<void>;
  /** The chain of a sandbox merchant with its controls. The caller has checked the merchant's mode. */
  sandbox(merchantId: string, network: Network): SimulatedChain;
}

export interface ChainsOptions {
  /** Pool of the database with the schema `simchain`. */
  simulatedDb: Db;
  /** A merchant's clock, Unix seconds. */
  merchantNow: (merchantId: string) => Promise<number>;
  /** Of the simulated chains. */
  timing?: SimulatedTiming | undefined;
  /** Absent: live merchants have no network. */
  live?: LiveNetworks;
}

export function openChains({ simulatedDb, merchantNow, timing, live }: ChainsOptions): ChainRegistry {
  const common = { db: simulatedDb, batched: new BatchedCalls(simulatedDb) };
  const sandbox = (merchantId: string, network: Network): SimulatedChain =>
    openSimulatedChain({ ...common, ...timing, merchantId, network, now: () => merchantNow(merchantId) });
  // A live merchant never gets the simulated chain, even where its node is missing.
  const chainOf = ({ merchantId, mode }: ChainOwner, network: Network): Chain | undefined =>
    mode === 'sandbox' ? sandbox(merchantId, network) : findLiveChain(live, merchantId, network);
  const facts: ChainRegistry['facts'] = ({ mode }, network) =>
    mode === 'live'
      ? live?.chains.facts(network)
      : {
          isTest: true,
          wallets: null,
          name: network,
          publicEndpoint: null,
          collector: null,
          tokens: TOKEN_CONTRACTS[network],
          explorer: null,
        };
  return {
    sandbox,
    facts,
    isTest: (merchant) => {
      const all = NETWORKS.flatMap((network) => facts(merchant, network) ?? []);
      return all.length > 0 && all.every(({ isTest }) => isTest);
    },
    takes: async (merchant, { currency, network }) => {
      if (facts(merchant, network)?.tokens[currency] === undefined) return false;
      if (merchant.mode === 'sandbox') return true;
      return (await live?.accounts.findNow(merchant.merchantId, network)) !== undefined;
    },
    unpayableAddresses: async (merchant, network) =>
      (await chainOf(merchant, network)?.unpayableAddresses()) ?? [],
    readTank: async (network) => await live?.chains.readTank(network),
    isSignedText: async ({ mode }, network, signed) =>
      mode === 'sandbox'
        ? signed.signature === simulatedSignature(signed)
        : (await live?.chains.isSignedText(network, signed)) === true,
    payerCalls: ({ mode }, network) => (mode === 'sandbox' ? undefined : live?.chains.payerCalls(network)),
    holder: ({ merchantId, mode }) =>
      mode === 'sandbox' ? new SimulatedHolder(simulatedDb, merchantId) : live?.chains.holder,
    refresh: async () => await live?.accounts.load(),
    of: (merchant, network) => {
      const chain = chainOf(merchant, network);
      if (chain !== undefined) return chain;
      throw new Fail('service_unavailable', {
        message: `This installation has no ${network} node for this merchant, so nothing can be sent on that network. Nothing was changed.`,
        retryAfterSeconds: 60,
      });
    },
  };
}
