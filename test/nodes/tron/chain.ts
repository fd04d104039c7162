import { createHash, randomBytes } from 'node:crypto';
import { checkCommon, checkContract, Refusal } from './check.ts';
import { Evm } from './evm.ts';
import { bandwidthFor, type TronAccount } from './resources.ts';
import { copyOf, run, type TransactionInfo } from './run.ts';
import { evmAddress, signerOf, type TronTransaction } from './wire.ts';

const BLOCK_MS = 3_000;
/** So many of the newest blocks may be referred to. */
const REFERABLE = 65_536;

export interface TronBlock {
  number: number;
  id: string;
  parent: string;
  time: number;
  included: { tx: TronTransaction; info: TransactionInfo }[];
  /** Accounts that this block changed, as they were before. */
  before: Map<string, TronAccount | undefined>;
  /** Of anvil, at the end of this block. */
  evmHeight: number;
  /** Anvil's state before this block, where it ran contracts. */
  snapshot?: string;
}

export interface TronChainOptions {
  /** The solid block is so many behind the newest one; 19 on mainnet. */
  solidDepth?: number;
  /** TVM's energy for each unit of EVM gas: 2 brings transfers of USDT near to what they cost on mainnet. */
  energyPerGas?: number;
}

/** Blocks, accounts and resources of Tron around anvil, which runs the contracts. */
export class TronChain {
  readonly evm: Evm;
  readonly blocks: TronBlock[] = [];
  readonly accounts = new Map<string, TronAccount>();
  /** Sent and in no block. */
  readonly pool = new Map<string, TronTransaction>();
  readonly included = new Map<string, TransactionInfo>();
  readonly contracts = new Map<string, { name: string; origin: string }>();
  solidDepth: number;
  /** Transactions stay in the pool while it is true. */
  holding = false;
  /** Broadcasts are answered with SERVER_BUSY. */
  busy = false;
  readonly #energyPerGas: number;
  readonly #seed = randomBytes(16).toString('hex');
  #made = 0;
  #skippedMs = 0;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(evm: Evm, { solidDepth = 19, energyPerGas = 2 }: TronChainOptions) {
    this.evm = evm;
    this.solidDepth = solidDepth;
    this.#energyPerGas = energyPerGas;
  }

  static async start(options: TronChainOptions = {}): Promise<TronChain> {
    const chain = new TronChain(await Evm.start(), options);
    // Enough blocks until something is solid fit between then and now.
    const now = Math.floor((await chain.evm.time()) / 3) * BLOCK_MS;
    const time = now - (chain.solidDepth + 5) * BLOCK_MS;
    const first = chain.#nextBlock(time, await chain.evm.height());
    chain.blocks.push(first);
    // What contracts see as the number of the network: the last 4 bytes of its first block's id.
    await chain.evm.setChainId(Number.parseInt(first.id.slice(-8), 16));
    return chain;
  }

  get head(): TronBlock {
    return this.blockAt(this.blocks.length - 1);
  }

  blockAt(number: number): TronBlock {
    const block = this.blocks[Math.max(0, Math.min(number, this.blocks.length - 1))];
    if (block === undefined) throw new Error('a chain has at least its first block');
    return block;
  }

  /** The next block is so much later: nobody made blocks meanwhile. */
  moveClock(ms: number): void {
    this.#skippedMs += ms;
  }

  /** An account as it was at the end of a block. */
  account(address: string, number = this.head.number): TronAccount | undefined {
    const changed = this.blocks.slice(number + 1).find(({ before }) => before.has(address));
    return changed === undefined ? this.accounts.get(address) : changed.before.get(address);
  }

  /** Takes a transaction into the pool. @throws Refusal */
  async broadcast(tx: TronTransaction): Promise<void> {
    await this.alone(async () => {
      if (this.busy) throw new Refusal('SERVER_BUSY', 'Server busy.');
      if (tx.signatures.length !== 1 || signerOf(tx) !== tx.owner)
        throw new Refusal('SIGERROR', `Validate signature error: trans sig validate failed, id: ${tx.id}`);
      if (!this.#knowsReference(tx)) throw new Refusal('TAPOS_ERROR', 'Tapos check error.');
      checkCommon(tx, this.head.time);
      if (this.included.has(tx.id) || this.pool.has(tx.id))
        throw new Refusal('DUP_TRANSACTION_ERROR', 'Dup transaction.');
      await this.#check(tx);
      this.pool.set(tx.id, tx);
    });
  }

  /** Makes a block of what waits in the pool and still can go into it. */
  async produce(): Promise<TronBlock> {
    return await this.alone(async () => {
      const waiting = this.holding ? [] : [...this.pool.values()];
      const { time, evmHeight } = this.head;
      const block = this.#nextBlock(time + BLOCK_MS + this.#skippedMs, evmHeight);
      this.#skippedMs = 0;
      if (waiting.some(({ type }) => type === 'TriggerSmartContract'))
        block.snapshot = await this.evm.snapshot();
      for (const tx of waiting) {
        this.pool.delete(tx.id);
        await this.#include(tx, block, time);
      }
      block.evmHeight = await this.evm.height();
      this.blocks.push(block);
      return block;
    });
  }

  /** The newest blocks vanish with everything in them. @returns their transactions, which are in no block any more */
  async fork(depth: number): Promise<TronTransaction[]> {
    return await this.alone(async () => {
      const dropped = this.blocks.splice(Math.max(1, this.blocks.length - depth));
      const snapshot = dropped.find((block) => block.snapshot !== undefined)?.snapshot;
      if (snapshot !== undefined) await this.evm.revert(snapshot);
      for (const { before } of dropped.toReversed())
        for (const [address, account] of before) {
          if (account === undefined) this.accounts.delete(address);
          else this.accounts.set(address, account);
        }
      const transactions = dropped.flatMap(({ included }) => included.map(({ tx }) => tx));
      for (const { id } of transactions) this.included.delete(id);
      return transactions;
    });
  }

  /** One after the other: blocks, broadcasts and what tests do to the chain. */
  async alone<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(step, step);
    this.#turn = done.catch(() => undefined);
    return await done;
  }

  /** Changes an account past all rules, in the newest block. */
  change(address: string): TronAccount {
    return this.#change(address, this.head);
  }

  energyOf(gas: number): number {
    return gas * this.#energyPerGas;
  }

  /** A call on the state of a block. Contracts see the time of the newest one. */
  async callAt(call: { from: string; to: string; data: string }, { evmHeight, number }: TronBlock) {
    return await this.alone(async () => {
      const seconds = Math.floor(this.head.time / 1_000);
      if (number === this.head.number && (await this.evm.time()) < seconds) {
        await this.evm.mine(seconds);
        this.head.evmHeight = await this.evm.height();
      }
      return await this.evm.call(call, number === this.head.number ? 'latest' : evmHeight);
    });
  }

  async isContract(address: string): Promise<boolean> {
    return this.contracts.has(address) || (await this.evm.hasCode(evmAddress(address)));
  }

  #change(address: string, block: TronBlock): TronAccount {
    const now = this.accounts.get(address);
    if (!block.before.has(address)) block.before.set(address, structuredClone(now));
    const account = now ?? copyOf(undefined, address, block.time);
    this.accounts.set(address, account);
    return account;
  }

  async #check(tx: TronTransaction): Promise<void> {
    const { time: headTime } = this.head;
    await checkContract(tx, {
      headTime,
      accountOf: (address) => this.accounts.get(address),
      isContract: (address) => this.isContract(address),
    });
    const owner = this.accounts.get(tx.owner);
    if (owner === undefined || bandwidthFor(owner, tx.size, headTime) === undefined)
      throw new Refusal('BANDWITH_ERROR', 'Account resource insufficient error.');
  }

  /** What has expired or is no longer valid is left out without a word, as on the real network. */
  async #include(tx: TronTransaction, block: TronBlock, headTime: number): Promise<void> {
    if (tx.raw.expiration <= headTime || !this.#knowsReference(tx)) return;
    const valid = await this.#check(tx).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal) return false;
        throw error;
      },
    );
    if (!valid) return;
    const info = await run(tx, {
      evm: this.evm,
      number: block.number,
      time: block.time,
      energyPerGas: this.#energyPerGas,
      accountOf: (address) => this.accounts.get(address),
      change: (address) => this.#change(address, block),
    });
    if (info === undefined) return;
    block.included.push({ tx, info });
    this.included.set(tx.id, info);
  }

  /** The last bytes of a block's number, and of its id, as the transaction names them. */
  #knowsReference({ raw }: TronTransaction): boolean {
    const place = Number.parseInt(raw.ref_block_bytes, 16);
    const { number } = this.head;
    const referred = number - ((number - place + REFERABLE) % REFERABLE);
    return referred >= 0 && this.blockAt(referred).id.slice(16, 32) === raw.ref_block_hash;
  }

  #nextBlock(time: number, evmHeight: number): TronBlock {
    const parent = this.blocks.at(-1);
    const number = parent === undefined ? 0 : parent.number + 1;
    this.#made += 1;
    const digest = createHash('sha256').update(`${this.#seed} ${this.#made}`).digest('hex');
    return {
      number,
      id: number.toString(16).padStart(16, '0') + digest.slice(16),
      parent: parent?.id ?? '0'.repeat(64),
      time,
      included: [],
      before: new Map(),
      evmHeight,
    };
  }
}
