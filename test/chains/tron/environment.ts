import type { Asset } from '@florin/contract/money';
import { Collector, TestTronUSDT, TestUSDC } from '../../../contracts/artifacts/index.ts';
import { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import { type FeedOptions, TronFeed } from '../../../packages/server/src/chains/tron/feed.ts';
import type { TronNetwork } from '../../../packages/server/src/chains/tron/network.ts';
import type { TronNode as RpcTronNode } from '../../../packages/server/src/chains/tron/node.ts';
import { TronChain } from '../../../packages/server/src/chains/tron/tron-chain.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { accountOfTron } from '../../../packages/signer/src/tron/address.ts';
import { startTronNode, type TronNode } from '../../nodes/tron/node.ts';
import {
  ask,
  call,
  hex,
  keyOf,
  native,
  OWNER,
  PAYER,
  type Signed,
  send,
  TRX,
} from '../../nodes/tron-client.ts';
import type { PayerTransfer } from '../conformance-environment.ts';
import { BATCHER, batchData } from '../evm/batcher.ts';
import { nextSigning } from '../next-signing.ts';
import { KEYS, TronKeySigner } from './key-signer.ts';

/** Confirmations of a final block. */
export const FINAL_BLOCKS = 4;
const SOME = 10n ** 15n;
const OLD_BLOCKS = 5;
const UNLIMITED = 2n ** 256n - 1n;

interface OpenOptions {
  account?: number;
  network?: TronNetwork;
  signer?: TronKeySigner;
  /** What its hot wallet is given, in sun. */
  trx?: number;
  nowMs?: () => number;
  /** Nothing is kept by default. */
  feed?: TronFeed | FeedOptions;
}

/** A local Tron, and people on it who pay. */
export class TronEnvironment {
  readonly node: TronNode;
  readonly network: TronNetwork;
  readonly signer = new TronKeySigner();
  readonly unlisted: string;
  readonly #batcher: string;
  readonly #names = new Map<string, string>();
  readonly #stocked = new Set<string>();
  readonly #paid = new Set<string>();

  private constructor(parts: { node: TronNode; network: TronNetwork; unlisted: string; batcher: string }) {
    this.node = parts.node;
    this.network = parts.network;
    this.unlisted = parts.unlisted;
    this.#batcher = parts.batcher;
  }

  static async start(): Promise<TronEnvironment> {
    const node = await startTronNode({ blocks: 'byHand', solidDepth: FINAL_BLOCKS - 1 });
    for (const { address } of [OWNER, PAYER]) node.fund(address, 1_000_000 * TRX);
    const deploy = (name: string, bytecode: string) => node.deploy(name, bytecode, OWNER.address);
    const tokens = {
      USDT: { contract: await deploy('USDT', TestTronUSDT.bytecode) },
      USDC: { contract: await deploy('USDC', TestUSDC.bytecode) },
    };
    const collector = await deploy('Collector', Collector.bytecode);
    const network: TronNetwork = {
      name: 'Tron for tests',
      isTest: true,
      endpoints: [{ url: node.url, isOwn: true }],
      genesisHash: node.chain.blockAt(0).id,
      tokens,
      collector,
      feeCeilings: { feeLimit: 100_000_000n },
      explorer: null,
    };
    const unlisted = await deploy('a token that calls itself USDT', TestTronUSDT.bytecode);
    const batcher = await deploy('batcher', BATCHER.bytecode);
    const environment = new TronEnvironment({ node, network, unlisted, batcher });
    await environment.owner(tokens.USDC.contract, 'initialize(address)', [OWNER.address]);
    // Its tests look back on blocks that were there before them.
    await environment.mine(40);
    return environment;
  }

  token(asset: Asset | null): string {
    return asset === null ? this.unlisted : (this.network.tokens[asset]?.contract ?? '');
  }

  async mine(blocks: number): Promise<void> {
    for (let made = 0; made < blocks; made += 1) await this.node.chain.produce();
  }

  endpoints(network = this.network, timeoutMs = 5_000): TronEndpoints {
    return new TronEndpoints(network, { log: createLogger('silent'), timeoutMs, restMs: 0 });
  }

  feed(
    node: RpcTronNode,
    options: FeedOptions = { refreshMs: 0, keepMs: 0 },
    network = this.network,
  ): TronFeed {
    return new TronFeed(node, network, options);
  }

  /** A merchant's chain as this node shows it. */
  open(
    node: RpcTronNode,
    {
      account = 1,
      network = this.network,
      signer = this.signer,
      feed,
      trx = 100_000 * TRX,
      nowMs = Date.now,
    }: OpenOptions = {},
  ): TronChain {
    const hot = KEYS.hot(account).address;
    this.node.fund(hot, trx);
    return new TronChain({
      network,
      node,
      feed: feed instanceof TronFeed ? feed : this.feed(node, feed, network),
      wallets: {
        hot,
        owner: KEYS.owner(account).address,
        resource: KEYS.hot(0).address,
        deposit: (index) => KEYS.deposit(account, index).address,
      },
      nowMs,
      signer,
      merchantId: 'merchant',
      account,
    });
  }

  /** A call of the tokens' owner, in a block of its own. */
  async owner(contract: string, method: string, values: (string | bigint | boolean)[]): Promise<void> {
    await this.#put(await call(OWNER, method, values, { contract, url: this.node.url }));
    await this.mine(1);
  }

  async give(asset: Asset | null, to: string, amount: bigint): Promise<void> {
    await this.owner(this.token(asset), 'mint(address,uint256)', [to, amount]);
  }

  /** All in one transaction, in the newest block. @returns its id */
  async pay(transfers: readonly PayerTransfer[]): Promise<string> {
    for (const { from } of transfers) await this.#stock(from);
    const calls = transfers.map(({ from, to, asset, amount }) => ({
      token: accountOfTron(this.token(asset)),
      from: accountOfTron(from),
      to: accountOfTron(to),
      amount,
    }));
    const value = { contract_address: hex(this.#batcher), data: batchData(calls).slice(2) };
    const options = { url: this.node.url, validMs: 600_000, feeLimit: 10_000 * TRX };
    const id = await this.#put(await native(PAYER, 'TriggerSmartContract', value, options));
    this.#paid.add(id);
    await this.mine(1);
    const result = this.node.chain.included.get(id)?.receipt.result;
    if (result !== 'SUCCESS') throw new Error(`the payment failed: ${result}`);
    return id;
  }

  /** As many blocks come in the place of those that vanish; payers' transactions are in the last of them, or in none. */
  async reorg(depth: number, { remine }: { remine: boolean } = { remine: false }): Promise<void> {
    const { chain } = this.node;
    const undone = (await chain.fork(depth)).filter(({ id }) => this.#paid.has(id));
    await this.mine(depth - 1);
    if (remine) for (const tx of undone) chain.pool.set(tx.id, tx);
    await this.mine(1);
  }

  /** Of the newest block. */
  async balanceOf(asset: Asset, owner: string): Promise<bigint> {
    const to = accountOfTron(this.token(asset));
    const data = `0x70a08231${hex(owner).slice(2).padStart(64, '0')}`;
    const { data: held } = await this.node.chain.callAt({ from: to, to, data }, this.node.chain.head);
    return BigInt(held);
  }

  /** The merchant's account at the collector, as the service opens it. */
  async openAccount(chain: TronChain): Promise<void> {
    this.node.fund(KEYS.hot(0).address, 10_000 * TRX);
    const tx = await chain.buildMovement({
      signing: nextSigning(),
      keyRef: 'tank',
      movement: { kind: 'account' },
    });
    await chain.broadcast(tx);
    await this.mine(FINAL_BLOCKS);
    const { state } = await chain.status(tx);
    if (state !== 'final') throw new Error(`the account is ${state}`);
  }

  /** Transactions of payers, in one block that they share. */
  async sendTogether(list: readonly Signed[]): Promise<void> {
    const ids: string[] = [];
    for (const signed of list) ids.push(await this.#put(signed));
    for (const id of ids) this.#paid.add(id);
    await this.mine(1);
    for (const id of ids) {
      const result = this.node.chain.included.get(id)?.receipt.result;
      if (result !== 'SUCCESS') throw new Error(`a payer's transaction failed: ${result}`);
    }
  }

  /** A wallet that anybody can pay from. */
  wallet(name: string): string {
    const { address } = keyOf(name);
    this.#names.set(address, name);
    return address;
  }

  async #stock(address: string): Promise<void> {
    if (this.#stocked.has(address)) return;
    this.#stocked.add(address);
    const name = this.#names.get(address);
    if (name === undefined) throw new Error(`nobody has the key of ${address}`);
    this.node.fund(address, 100_000 * TRX);
    for (const asset of ['USDT', 'USDC', null] as const) {
      await this.give(asset, address, SOME);
      const contract = this.token(asset);
      const values = [this.#batcher, UNLIMITED];
      await this.#put(
        await call(keyOf(name), 'approve(address,uint256)', values, { contract, url: this.node.url }),
      );
    }
    // What a payer has is older than any fork.
    await this.mine(2 * FINAL_BLOCKS + OLD_BLOCKS);
  }

  async #put(signed: Signed): Promise<string> {
    const answer = await send(signed, this.node.url);
    if (answer.result !== true) throw new Error(`refused: ${JSON.stringify(answer)}`);
    return signed.txID;
  }

  /** What the node says itself, whatever an adapter makes of it. */
  async info(id: string) {
    return await ask('wallet/gettransactioninfobyid', { value: id }, this.node.url);
  }
}
