import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import { checkTrc20Address } from '../addresses/trc20.ts';
import { writeCursor } from '../blocks/cursor.ts';
import { readBlockHashes } from '../blocks/hashes.ts';
import { headOf, type ScanContext, scanBlocks } from '../blocks/scan.ts';
import type { ChainReader } from '../port/chain-reader.ts';
import {
  type AddressCheck,
  type BalancesAnswer,
  type BalanceView,
  type ChainHealth,
  DEPOSIT_INDEX_MAX,
  type DepositAddress,
  depositIndexOf,
  type Freshness,
  type Head,
  type KeyRef,
  type ScanAnswer,
  type ScanQuery,
  type ValidateOptions,
} from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { healthOf } from '../rpc/health.ts';
import { readBalance, readBalances } from './balances.ts';
import { blockSource } from './block-source.ts';
import type { LoggedTransfer } from './block-transfers.ts';
import type { Snapshot, TronFeed } from './feed.ts';
import type { TronNetwork } from './network.ts';
import type { TronNode } from './node.ts';
import { isNothing, orUnavailable } from './node-answers.ts';

/** Nodes tell nothing of the transactions of the first block. */
const FIRST_READ = 1n;

/** The addresses of a merchant, derived from public keys alone. */
export interface TronWallets {
  hot: string;
  /** Owner of the merchant's account at the collector. */
  owner: string;
  /** Of the installation: it gives the others TRX and energy. */
  resource: string;
  deposit(index: number): string;
}

export interface ReaderOptions {
  network: TronNetwork;
  node: TronNode;
  /** Shared by all merchants of the process. */
  feed: TronFeed;
  wallets: TronWallets;
  /** Height at which the merchant's account was opened: a scan without cursor begins there (0). */
  beginsAt?: bigint | undefined;
  /** Unix milliseconds. */
  nowMs: () => number;
}

/** The part of `Chain` that reads, for one live merchant. Only the network's own tokens are read: others are not seen. */
export class TronReader implements ChainReader {
  readonly network: Network = 'trc20';
  readonly #options: ReaderOptions;
  readonly #scanning: ScanContext<LoggedTransfer, Snapshot>;

  constructor(options: ReaderOptions) {
    const { feed, beginsAt = 0n } = options;
    this.#options = options;
    this.#scanning = { source: blockSource(feed), beginsAt: beginsAt < FIRST_READ ? FIRST_READ : beginsAt };
  }

  async validateAddress(address: string, { online = false }: ValidateOptions = {}): Promise<AddressCheck> {
    const check = checkTrc20Address(address);
    if (!check.ok) return check;
    const own = this.#contracts().get(check.canonical);
    if (own !== undefined) return { ok: false, canonical: address, code: own, warnings: [] };
    if (online && (await this.#isContract(check.canonical))) check.warnings.push('contract');
    return check;
  }

  async sender(keyRef: KeyRef): Promise<string> {
    const { hot, resource } = this.#options.wallets;
    if (keyRef === 'hot') return hot;
    return keyRef === 'tank' ? resource : this.#deposit(depositIndexOf(keyRef) ?? Number.NaN);
  }

  async hotWallets(): Promise<readonly string[]> {
    return [this.#options.wallets.hot];
  }

  async readRotation(): Promise<null> {
    return null;
  }

  async unpayableAddresses(): Promise<readonly string[]> {
    const { hot, resource } = this.#options.wallets;
    return [hot, resource, ...this.#contracts().keys()];
  }

  async depositAddress({ index }: { index: number }): Promise<DepositAddress> {
    const address = this.#deposit(index);
    return { address, watch: address };
  }

  async nextSequence(_sender: string): Promise<null> {
    return null;
  }

  async head(freshness?: Freshness): Promise<Head> {
    return headOf(await this.#options.feed.snapshot(freshness));
  }

  async blockHashes(
    heights: readonly bigint[],
    freshness?: Freshness,
  ): Promise<ReadonlyMap<bigint, string | null>> {
    return await readBlockHashes(this.#options.feed, heights, freshness);
  }

  async balance(address: string, asset: Asset, at: BalanceView): Promise<bigint> {
    const contract = this.#options.network.tokens[asset]?.contract;
    // Nobody holds here what this network does not take.
    return contract === undefined ? 0n : await readBalance(this.#options, { contract, address, at });
  }

  async balances(addresses: readonly string[], asset: Asset, at: BalanceView): Promise<BalancesAnswer> {
    const { feed, network } = this.#options;
    const contract = network.tokens[asset]?.contract;
    if (contract !== undefined) return await readBalances(this.#options, { contract, addresses, at });
    const { final, head } = await feed.snapshot();
    // Nobody holds here what this network does not take.
    return { height: (at === 'final' ? final : head).height, balances: new Map() };
  }

  async scan(query: ScanQuery): Promise<ScanAnswer> {
    return await scanBlocks(this.#scanning, query);
  }

  async cursorAt(height: bigint): Promise<string> {
    return writeCursor({ height: height < -1n ? -1n : height });
  }

  async health(): Promise<ChainHealth> {
    return await healthOf(async () => (await this.#options.feed.snapshot()).head, this.#options.nowMs);
  }

  #deposit(index: number): string {
    if (!Number.isInteger(index) || index < 0 || index > DEPOSIT_INDEX_MAX)
      throw new RangeError(`a deposit address has a number from 0 to ${DEPOSIT_INDEX_MAX}`);
    return this.#options.wallets.deposit(index);
  }

  /** Coins that are sent to a contract of these stay there. */
  #contracts(): Map<string, 'token_contract' | 'program'> {
    const { tokens, collector } = this.#options.network;
    return new Map([
      ...(collector === null ? [] : [[collector, 'program'] as const]),
      ...ASSETS.flatMap((asset) => {
        const contract = tokens[asset]?.contract;
        return contract === undefined ? [] : [[contract, 'token_contract'] as const];
      }),
    ]);
  }

  /** A warning less is no error: the address was checked without a node. */
  async #isContract(address: string): Promise<boolean> {
    try {
      const call = this.#options.node.call('wallet/getcontract', [{ value: address, visible: true }]);
      return !isNothing(await orUnavailable(call));
    } catch (error) {
      if (error instanceof ChainUnavailable) return false;
      throw error;
    }
  }
}
