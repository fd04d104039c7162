import type { Asset, Network } from '@florin/contract/money';
import { checkErc20Address } from '../addresses/erc20.ts';
import { writeCursor } from '../blocks/cursor.ts';
import { readBlockHashes } from '../blocks/hashes.ts';
import { headOf, type ScanContext, scanBlocks } from '../blocks/scan.ts';
import type { ChainReader } from '../port/chain-reader.ts';
import {
  type AddressCheck,
  type BalancesAnswer,
  type BalanceView,
  type ChainHealth,
  type DepositAddress,
  depositIndexOf,
  type Freshness,
  type Head,
  type KeyRef,
  rotatedEpochOf,
  type ScanAnswer,
  type ScanQuery,
  type ValidateOptions,
} from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { healthOf } from '../rpc/health.ts';
import { NodeError } from '../rpc/node.ts';
import { readBalances } from './balances.ts';
import { blockSource } from './block-source.ts';
import type { BlockFeed } from './blocks.ts';
import type { AccountAddresses } from './extended-key.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readBytes, readQuantity } from './node-answers.ts';
import type { Snapshot } from './tip.ts';
import type { LoggedTransfer } from './transfer-logs.ts';

/** The code of an account that delegates (EIP-7702): somebody holds its key. */
const DELEGATION = '0xef0100';

export interface ReaderOptions {
  network: EvmNetwork;
  node: EvmNode;
  /** Shared by all merchants of the process. */
  feed: BlockFeed;
  /** Of the merchant. */
  addresses: AccountAddresses;
  /** Of the merchant's present hot wallet (0). */
  epoch?: number | undefined;
  /** Address of the installation's gas tank, which all merchants share. */
  tank: string;
  /** Height at which the merchant's account was opened: a scan without cursor begins there (0). */
  beginsAt?: bigint | undefined;
  /** Unix milliseconds. */
  nowMs: () => number;
}

/** The part of `Chain` that reads, for one live merchant. Only the network's own tokens are read: others are not seen. */
export class EvmReader implements ChainReader {
  readonly network: Network = 'erc20';
  readonly #options: ReaderOptions;
  readonly #hot: readonly string[];
  readonly #scanning: ScanContext<LoggedTransfer, Snapshot>;

  constructor(options: ReaderOptions) {
    const { feed, network, beginsAt = 0n, addresses, epoch = 0 } = options;
    this.#options = options;
    this.#hot = Array.from({ length: epoch + 1 }, (_, n) => addresses.hotAt(n));
    const { earlyConfirmations } = network.finality;
    this.#scanning = { source: blockSource({ feed, earlyConfirmations }), beginsAt };
  }

  async validateAddress(address: string, { online = false }: ValidateOptions = {}): Promise<AddressCheck> {
    const check = checkErc20Address(address);
    if (!check.ok) return check;
    const own = this.#contracts().get(check.canonical);
    if (own !== undefined) return { ok: false, canonical: address, code: own, warnings: [] };
    if (online && (await this.#isContract(check.canonical))) check.warnings.push('contract');
    return check;
  }

  async sender(keyRef: KeyRef): Promise<string> {
    const { addresses, tank } = this.#options;
    if (keyRef === 'hot') return this.#hot.at(-1) ?? addresses.hot;
    const epoch = rotatedEpochOf(keyRef);
    if (epoch !== null) return addresses.hotAt(epoch);
    return keyRef === 'tank' ? tank : addresses.deposit(depositIndexOf(keyRef) ?? Number.NaN);
  }

  async hotWallets(): Promise<readonly string[]> {
    return this.#hot;
  }

  async unpayableAddresses(): Promise<readonly string[]> {
    return [...this.#hot, this.#options.tank, ...this.#contracts().keys()];
  }

  async depositAddress({ index }: { index: number }): Promise<DepositAddress> {
    const address = this.#options.addresses.deposit(index);
    return { address, watch: address };
  }

  async nextSequence(sender: string): Promise<string> {
    const count = await this.#call('eth_getTransactionCount', [sender, 'latest']);
    return readQuantity(count, 'a count of transactions').toString();
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
    const { balances } = await this.balances([address], asset, at);
    return balances.get(address) ?? 0n;
  }

  async balances(addresses: readonly string[], asset: Asset, at: BalanceView): Promise<BalancesAnswer> {
    const { feed, node, network } = this.#options;
    const { head, final } = await feed.snapshot();
    const { height } = at === 'final' ? final : head;
    const token = network.tokens[asset]?.address;
    // Nobody holds here what this network does not take.
    if (token === undefined) return { height, balances: new Map() };
    const endpoints = at === 'final' ? 'two' : 'one';
    return { height, balances: await readBalances(node, { token, addresses, height, endpoints }) };
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

  /** Coins that are sent to a token or to a contract of ours stay there. */
  #contracts(): Map<string, 'token_contract' | 'program'> {
    const { tokens, batchPayout, sweeper, collector } = this.#options.network;
    const own = [batchPayout, sweeper, collector].filter((address) => address !== null);
    return new Map([
      ...own.map((address) => [address, 'program'] as const),
      ...Object.values(tokens).map(({ address }) => [address, 'token_contract'] as const),
    ]);
  }

  /** A warning less is no error: the address was checked without a node. */
  async #isContract(canonical: string): Promise<boolean> {
    try {
      const code = readBytes(await this.#call('eth_getCode', [canonical, 'latest']), 'a code');
      return code !== '0x' && !code.startsWith(DELEGATION);
    } catch (error) {
      if (error instanceof ChainUnavailable) return false;
      throw error;
    }
  }

  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#options.node.call(method, params);
    } catch (error) {
      if (error instanceof NodeError) throw new ChainUnavailable('erc20', error.message, error);
      throw error;
    }
  }
}
