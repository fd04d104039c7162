import { createHash, randomBytes } from 'node:crypto';
import { type Address, getBase58Decoder, lamports, type MaybeEncodedAccount } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { LiteSVM } from 'litesvm';
import { AccountHistory, type ExistingAccount, existing } from './account-history.ts';
import { type Executed, execute, type Outcome, outcomeOf } from './execute.ts';
import { readTokenAccount } from './tokens.ts';
import { isSigned, type WireTransaction } from './wire.ts';

/** A blockhash may be used in the 150 blocks after its own. */
export const LIFETIME_BLOCKS = 150;

export interface ChainOptions {
  /** Blocks after which a block is confirmed, and finalized. */
  confirmedDepth?: number;
  finalizedDepth?: number;
  /** The machine's clock, in ms. */
  now?: () => number;
}

export interface Block {
  slot: number;
  height: number;
  hash: string;
  /** Unix time in seconds. */
  time: number;
  transactions: Executed[];
  /** The least price per compute unit that a transaction paid, as `getRecentPrioritizationFees` shows it. */
  priorityFee: number;
}

/** LiteSVM with what it has not: blocks, their hashes, history, and states as of earlier slots. */
export class SolanaChain {
  readonly vm = new LiteSVM().withBlockhashCheck(false).withSigverify(false).withTransactionHistory(0n);
  readonly genesisHash: string;
  readonly blocks: Block[] = [];
  readonly transactions = new Map<string, Executed>();
  /** Sent and in no block. */
  readonly pool = new Map<string, WireTransaction>();
  confirmedDepth: number;
  finalizedDepth: number;
  /** What the next blocks show as their priority fee, in micro-lamports per unit. */
  priorityFee = 0;
  /** Transactions stay in the pool while it is true. */
  holding = false;
  /** The slots below have been cleaned up: their blocks and transactions are no longer served. */
  firstAvailable = 0;
  readonly #byAddress = new Map<Address, Executed[]>();
  readonly #heights = new Map<string, number>();
  readonly #tokenAccounts = new Set<Address>();
  readonly #history = new AccountHistory();
  readonly #now: () => number;
  #slot = 0;
  #made = 0;
  #clockMovedMs = 0;

  constructor({ confirmedDepth = 1, finalizedDepth = 32, now = Date.now }: ChainOptions = {}) {
    this.confirmedDepth = confirmedDepth;
    this.finalizedDepth = finalizedDepth;
    this.#now = now;
    this.genesisHash = getBase58Decoder().decode(randomBytes(32));
    this.#append();
  }

  get tip(): Block {
    return this.blockAt(this.blocks.length - 1);
  }

  blockAt(index: number): Block {
    const block = this.blocks[Math.max(0, Math.min(index, this.blocks.length - 1))];
    if (block === undefined) throw new Error('a chain has at least its first block');
    return block;
  }

  /** Makes a block of what waits in the pool and can go into it. */
  produce(): Block {
    this.#append();
    if (!this.holding) {
      const waiting = [...this.pool.values()];
      this.pool.clear();
      for (const wire of waiting) this.#include(wire);
    }
    return this.tip;
  }

  /** Slots without a block: their leader was away. */
  skip(slots: number): void {
    this.#slot += slots;
  }

  moveClock(ms: number): void {
    this.#clockMovedMs += ms;
  }

  /** @returns the height of the block with this hash; undefined where no block of this fork has it */
  heightOf(hash: string): number | undefined {
    return this.#heights.get(hash);
  }

  /** An account as it was when the slot had ended. */
  account(address: Address, slot = this.#slot): MaybeEncodedAccount {
    return this.#history.at(address, slot) ?? this.vm.getAccount(address);
  }

  /** Everything that ever held tokens, as it was then. */
  tokenAccounts(slot: number): ExistingAccount[] {
    return [...this.#tokenAccounts]
      .map((address) => this.account(address, slot))
      .filter((account) => readTokenAccount(account) !== undefined)
      .filter((account) => account.exists);
  }

  /** The transactions that name the account, newest first. */
  mentions(address: Address): Executed[] {
    return (this.#byAddress.get(address) ?? []).toReversed();
  }

  /** Runs it without keeping anything, on the accounts as they were at a slot. */
  simulate(wire: WireTransaction, slot: number): Outcome & { after: ExistingAccount[] } {
    const newest = wire.keys.map((key) => this.vm.getAccount(key));
    const old = wire.keys.map((key) => this.#history.at(key, slot)).filter((one) => one !== undefined);
    for (const account of old) this.#write(account);
    const result = this.vm.simulateTransaction(wire.transaction);
    if (old.length > 0) for (const account of newest) this.#write(account);
    return 'postAccounts' in result
      ? { ...outcomeOf(result.meta()), after: result.postAccounts().map(existing) }
      : { ...outcomeOf(result), after: [] };
  }

  /** Changes an account past all rules, in the newest slot. */
  overwrite(account: ExistingAccount): void {
    this.#history.record(this.#slot, this.vm.getAccount(account.address));
    this.#write(account);
    this.#noteTokens(account.address);
  }

  /**
   * The newest blocks vanish with everything in them; later ones have later slots, but heights begin again below.
   *
   * @returns the transactions that are in no block any more
   */
  fork(depth: number): WireTransaction[] {
    const kept = Math.max(1, this.blocks.length - depth);
    const dropped = this.blocks.splice(kept);
    for (const { hash } of dropped) this.#heights.delete(hash);
    const undone = dropped.flatMap(({ transactions }) => transactions);
    for (const one of undone) this.#forget(one);
    for (const account of this.#history.revertTo(this.tip.slot)) this.#write(account);
    return undone.map(({ wire }) => wire);
  }

  #append(): void {
    const parent = this.blocks.at(-1);
    if (parent !== undefined) this.#slot += 1;
    const time = Math.floor((this.#now() + this.#clockMovedMs) / 1_000);
    const block: Block = {
      slot: this.#slot,
      height: parent === undefined ? 0 : parent.height + 1,
      hash: this.#nextHash(),
      time: Math.max(time, parent?.time ?? 0),
      transactions: [],
      priorityFee: this.priorityFee,
    };
    this.blocks.push(block);
    this.#heights.set(block.hash, block.height);
    const clock = this.vm.getClock();
    clock.slot = BigInt(block.slot);
    clock.unixTimestamp = BigInt(block.time);
    this.vm.setClock(clock);
    this.vm.expireBlockhash();
  }

  /** Two forks have different hashes at the same height, and two chains have nothing in common. */
  #nextHash(): string {
    this.#made += 1;
    const digest = createHash('sha256').update(`${this.genesisHash} ${this.#made}`).digest();
    return getBase58Decoder().decode(digest);
  }

  /** What is out of date, unsigned, or in a block already is left out without a word, as on the real network. */
  #include(wire: WireTransaction): void {
    const height = this.#heights.get(wire.message.lifetimeToken);
    if (height === undefined || this.tip.height - height > LIFETIME_BLOCKS) return;
    if (this.transactions.has(wire.signature) || !isSigned(wire)) return;
    const before = wire.keys.map((key) => this.vm.getAccount(key));
    const done = execute(this.vm, wire);
    if (done === undefined) return;
    for (const account of before) this.#history.record(this.#slot, account);
    const { slot, height: at, time } = this.tip;
    const executed = { ...done, slot, height: at, time };
    this.tip.transactions.push(executed);
    this.transactions.set(wire.signature, executed);
    for (const key of wire.keys) {
      const list = this.#byAddress.get(key) ?? [];
      list.push(executed);
      this.#byAddress.set(key, list);
      this.#noteTokens(key);
    }
  }

  #forget({ wire }: Executed): void {
    this.transactions.delete(wire.signature);
    for (const key of wire.keys) {
      const left = this.#byAddress.get(key)?.filter((one) => one.wire.signature !== wire.signature);
      this.#byAddress.set(key, left ?? []);
    }
  }

  #noteTokens(address: Address): void {
    if (readTokenAccount(this.vm.getAccount(address)) !== undefined) this.#tokenAccounts.add(address);
  }

  #write(account: MaybeEncodedAccount): void {
    if (account.exists) {
      // Programs do not change here.
      if (!account.executable) this.vm.setAccount(account);
      return;
    }
    const { address } = account;
    const empty = { address, data: new Uint8Array(), executable: false, space: 0n, lamports: lamports(0n) };
    this.vm.setAccount({ ...empty, programAddress: SYSTEM_PROGRAM_ADDRESS });
  }
}
