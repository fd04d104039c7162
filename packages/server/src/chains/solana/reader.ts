import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import type { Logger } from '../../platform/observability/index.ts';
import { checkSplAddress } from '../addresses/spl.ts';
import type { ChainReader } from '../port/chain-reader.ts';
import {
  type AddressCheck,
  AddressPoolEmpty,
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
  SignerUnavailable,
  type ValidateOptions,
} from '../port/port.ts';
import { healthOf } from '../rpc/health.ts';
import { readBlockHashes } from './block-hashes.ts';
import { writeCursor } from './cursor.ts';
import { type TokenAccounts, tokenAccountsOf } from './derive-accounts.ts';
import { type HeadFeed, headOf, isFresh } from './heads.ts';
import type { Marks } from './marks.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { checkAccount } from './recipient.ts';
import { scanAccounts } from './scan.ts';
import { readAmounts } from './token-accounts.ts';

/** The addresses of a merchant. Nobody derives them without the seed: the signer has named them. */
export interface SolanaWallets {
  hot: string;
  /** Of the installation: it pays the fee and the rent of all transactions. */
  feePayer: string;
  /**
   * Of the installation: payers' wallets give it an allowance. The signer's word alone, as the database could name anybody; null: no
   * wallet is charged.
   *
   * @throws SignerUnavailable before it has ever answered
   */
  delegate(): Promise<string | null>;
  /** As it was stored; undefined: the signer has not named it yet. */
  deposit(index: number): Promise<string | undefined>;
  /** Asks the signer. @throws SignerUnavailable */
  name(request: { from: number; count: number }): Promise<readonly string[]>;
}

export interface ReaderOptions {
  network: SolanaNetwork;
  node: SolanaNode;
  /** Shared by all merchants of the process. */
  feed: HeadFeed;
  wallets: SolanaWallets;
  /** Of the merchant's deposit addresses. */
  marks: Marks;
  tokenAccounts: TokenAccounts;
  log: Logger;
  /** The slot at which the merchant's account was opened: a scan without cursor begins there (0). */
  beginsAt?: bigint | undefined;
  /** Unix milliseconds. */
  nowMs: () => number;
}

/**
 * The part of `Chain` that reads, for one live merchant. Heights are slots. Of each address the associated accounts of the
 * network's own tokens are read: what lies elsewhere is not seen.
 */
export class SolanaReader implements ChainReader {
  readonly network: Network = 'spl';
  readonly #options: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  async validateAddress(
    address: string,
    { online = false, allowProgramOwned = false }: ValidateOptions = {},
  ): Promise<AddressCheck> {
    const check = checkSplAddress(address, allowProgramOwned);
    if (!check.ok) return check;
    if (this.#mints().includes(check.canonical)) return refuse(address, 'token_contract');
    if (!online) return check;
    const found = await checkAccount(this.#options.node, check.canonical);
    if (found === undefined) return check;
    if (found === 'program_owned')
      return { ...check, warnings: [...new Set([...check.warnings, 'program_owned'])] };
    return refuse(address, found);
  }

  async sender(keyRef: KeyRef): Promise<string> {
    const { hot, feePayer } = this.#options.wallets;
    if (keyRef === 'hot') return hot;
    return keyRef === 'tank' ? feePayer : await this.#deposit(depositIndexOf(keyRef) ?? Number.NaN);
  }

  async hotWallets(): Promise<readonly string[]> {
    return [this.#options.wallets.hot];
  }

  async readRotation(): Promise<null> {
    return null;
  }

  async unpayableAddresses(): Promise<readonly string[]> {
    const { hot, feePayer } = this.#options.wallets;
    const delegate = await this.#delegate();
    return [hot, feePayer, ...(delegate === null ? [] : [delegate]), ...this.#mints()];
  }

  async depositAddress({ index }: { index: number }): Promise<DepositAddress> {
    const address = await this.#deposit(index);
    return { address, watch: address };
  }

  async nameAddresses({ from, count }: { from: number; count: number }): Promise<DepositAddress[]> {
    assertIndex(from);
    assertIndex(from + count - 1);
    const named = await this.#options.wallets.name({ from, count });
    if (named.length !== count) throw misnamed(`${named.length} addresses, not ${count}`);
    const others = await this.unpayableAddresses();
    const unique = new Set(named);
    if (unique.size !== count) throw misnamed('one address for two numbers');
    for (const address of named) {
      const { ok, canonical } = checkSplAddress(address);
      if (!ok || canonical !== address) throw misnamed('what is no wallet of this network');
      if (others.includes(address)) throw misnamed('a wallet that is used otherwise');
    }
    return named.map((address) => ({ address, watch: address }));
  }

  async nextSequence(_sender: string): Promise<null> {
    return null;
  }

  async head(freshness?: Freshness): Promise<Head> {
    return headOf(await this.#options.feed.heads(freshness));
  }

  async blockHashes(
    heights: readonly bigint[],
    freshness?: Freshness,
  ): Promise<ReadonlyMap<bigint, string | null>> {
    const { feed, node, nowMs } = this.#options;
    const heads = await feed.heads(freshness);
    return await readBlockHashes(node, heads, { heights, isFresh: isFresh(heads, nowMs()) });
  }

  async balance(address: string, asset: Asset, at: BalanceView): Promise<bigint> {
    const { balances } = await this.balances([address], asset, at);
    return balances.get(address) ?? 0n;
  }

  async balances(addresses: readonly string[], asset: Asset, at: BalanceView): Promise<BalancesAnswer> {
    const { feed, node, network, tokenAccounts } = this.#options;
    const { tip, final } = await feed.heads();
    const { slot } = at === 'final' ? final : tip;
    const mint = network.tokens[asset]?.mint;
    // Nobody holds here what this network does not take.
    if (mint === undefined) return { height: slot, balances: new Map() };
    // Hot wallets and strangers are among them.
    const known = await tokenAccountsOf(tokenAccounts, { owners: addresses, mint, save: false });
    const accounts = [...known].map(([owner, account]) => ({ account, owner, mint }));
    const reads =
      at === 'final'
        ? ({ commitment: 'finalized', endpoints: 'two' } as const)
        : ({ commitment: 'confirmed', endpoints: 'one' } as const);
    const { amounts, slots } = await readAmounts(node, { accounts, minSlot: slot, ...reads });
    const balances = new Map<string, bigint>();
    for (const { account, owner } of accounts) {
      const amount = amounts.get(account) ?? 0n;
      if (amount > 0n) balances.set(owner, amount);
    }
    const { from, to } = slots ?? { from: slot, to: slot };
    return { height: from, ...(to > from && { upTo: to }), balances };
  }

  async scan(query: ScanQuery): Promise<ScanAnswer> {
    const { beginsAt = 0n } = this.#options;
    return await scanAccounts({ ...this.#options, beginsAt }, query);
  }

  async cursorAt(height: bigint): Promise<string> {
    return writeCursor({ slot: height < -1n ? -1n : height });
  }

  async health(): Promise<ChainHealth> {
    const { feed, nowMs } = this.#options;
    return await healthOf(async () => {
      const { tip, time } = await feed.heads();
      return { height: tip.slot, time };
    }, nowMs);
  }

  async #deposit(index: number): Promise<string> {
    assertIndex(index);
    const address = await this.#options.wallets.deposit(index);
    if (address === undefined) throw new AddressPoolEmpty('spl');
    return address;
  }

  /** A signer that is away pays nobody: it is not missed in lists of who is not paid. */
  async #delegate(): Promise<string | null> {
    try {
      return await this.#options.wallets.delegate();
    } catch (error) {
      if (error instanceof SignerUnavailable) return null;
      throw error;
    }
  }

  #mints(): string[] {
    const { tokens } = this.#options.network;
    return ASSETS.flatMap((asset) => tokens[asset]?.mint ?? []);
  }
}

function assertIndex(index: number): void {
  if (!Number.isInteger(index) || index < 0 || index > DEPOSIT_INDEX_MAX)
    throw new RangeError(`a deposit address has a number from 0 to ${DEPOSIT_INDEX_MAX}`);
}

const misnamed = (what: string) =>
  new SignerUnavailable('spl', `the signer names ${what} as deposit addresses`);

function refuse(address: string, code: NonNullable<AddressCheck['code']>): AddressCheck {
  return { ok: false, canonical: address, code, warnings: [] };
}
