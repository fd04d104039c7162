import { type Address, getAddress, type Hex, maxUint256, pad, toHex } from 'viem';
import { HDKey } from 'viem/accounts';
import { TestUSDT } from '../../../contracts/artifacts/index.ts';
import { BlockFeed, type FeedOptions } from '../../../packages/server/src/chains/evm/blocks.ts';
import { EvmEndpoints } from '../../../packages/server/src/chains/evm/endpoints.ts';
import { AccountAddresses } from '../../../packages/server/src/chains/evm/extended-key.ts';
import type { EvmNetwork } from '../../../packages/server/src/chains/evm/network.ts';
import { parseNetworks } from '../../../packages/server/src/chains/evm/networks-file.ts';
import { EvmReader } from '../../../packages/server/src/chains/evm/reader.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import { type Anvil, startAnvil } from '../../../scripts/anvil.ts';
import {
  by,
  connect,
  deploy,
  furnish,
  type LocalClient,
  mined,
  OWNER,
  PAYER,
} from '../../../scripts/local-chain.ts';
import { BATCHER, batchData } from './batcher.ts';
import { FaultyNode } from './faulty-node.ts';

const SLOTS_IN_AN_EPOCH = 1;
/** Confirmations from which a block is final: anvil's `finalized` is two blocks behind. */
export const FINAL_BLOCKS = 2 * SLOTS_IN_AN_EPOCH + 1;
const PAYERS = 20;
const FUNDS = 10n ** 15n;

export interface EvmTransfer {
  from: string;
  to: string;
  /** Null: a token that is not listed, and calls itself USDT. */
  asset: 'USDT' | 'USDC' | null;
  amount: bigint;
}

interface OpenOptions extends FeedOptions {
  /** Of the first merchant. */
  account?: number;
  /** Instead of the network's own. */
  earlyConfirmations?: number | null;
}

/** A local chain with tokens, three faulty nodes in front of it, and payers whose transfers it can repeat or drop. */
export class EvmEnvironment {
  readonly client: LocalClient;
  readonly network: EvmNetwork;
  readonly nodes: readonly FaultyNode[];
  readonly #anvil: Anvil;
  readonly #batcher: Address;
  readonly #fake: Address;
  /** By block, as a reorganisation may move them. */
  readonly #sent: { height: bigint; raw: Hex }[] = [];
  readonly #opened: EvmEndpoints[] = [];
  #forks = 0;

  private constructor(parts: {
    anvil: Anvil;
    client: LocalClient;
    network: EvmNetwork;
    nodes: readonly FaultyNode[];
    batcher: Address;
    fake: Address;
  }) {
    this.#anvil = parts.anvil;
    this.client = parts.client;
    this.network = parts.network;
    this.nodes = parts.nodes;
    this.#batcher = parts.batcher;
    this.#fake = parts.fake;
  }

  static async start(): Promise<EvmEnvironment> {
    const anvil = await startAnvil({ slotsInAnEpoch: SLOTS_IN_AN_EPOCH });
    const entry = await furnish(anvil.url, SLOTS_IN_AN_EPOCH);
    const client = connect(anvil.url);
    const { erc20: network } = parseNetworks(JSON.stringify({ networks: { erc20: entry } })).networks;
    if (network === undefined) throw new Error('the local node’s entry is a good one');
    const batcher = await deploy(client, BATCHER);
    const fake = await deploy(client, TestUSDT);
    const nodes = await Promise.all([1, 2, 3].map(() => FaultyNode.start(anvil.url)));
    const environment = new EvmEnvironment({ anvil, client, network, nodes, batcher, fake });
    await environment.#fundPayers();
    return environment;
  }

  get fakeToken(): Address {
    return this.#fake;
  }

  token(asset: EvmTransfer['asset']): Address {
    return getAddress(asset === null ? this.#fake : (this.network.tokens[asset]?.address ?? ''));
  }

  node(place: number): FaultyNode {
    const node = this.nodes[place];
    if (node === undefined) throw new Error('there are three');
    return node;
  }

  /** A reader with these nodes as endpoints; one alone is the operator's own. */
  open(places: number[] = [0], { account = 1, ...options }: OpenOptions = {}) {
    return this.openMany(1, places, { account, ...options })[0] ?? raise();
  }

  /** Readers of many merchants that share one feed. */
  openMany(
    count: number,
    places: number[],
    { account = 1, earlyConfirmations, ...options }: OpenOptions = {},
  ) {
    const endpoints = places.map((place) => ({ url: this.node(place).url, isOwn: places.length === 1 }));
    const network = {
      ...this.network,
      endpoints,
      finality: { ...this.network.finality, ...(earlyConfirmations !== undefined && { earlyConfirmations }) },
    };
    const rpc = new EvmEndpoints(network, { log: createLogger('silent'), timeoutMs: 20_000, restMs: 0 });
    this.#opened.push(rpc);
    const feed = new BlockFeed(rpc, network, { refreshMs: 0, keepMs: 0, ...options });
    const tank = addressesOf(0).hot;
    return Array.from({ length: count }, (_, i) => {
      const addresses = addressesOf(account + i);
      const reader = new EvmReader({ network, node: rpc, feed, addresses, tank, nowMs: () => Date.now() });
      return { reader, feed, addresses };
    });
  }

  /** An address that never received anything; from 7,000 on twenty of them are funded payers. */
  recipient(number: number): string {
    return getAddress(pad(toHex(0x500000 + number), { size: 20 }));
  }

  /** All in one transaction, which is the newest block. */
  async pay(transfers: readonly EvmTransfer[]): Promise<Hex> {
    const data = batchData(transfers.map(({ asset, ...rest }) => ({ ...rest, token: this.token(asset) })));
    const raw = await PAYER.signTransaction({
      type: 'eip1559',
      chainId: this.network.chainId,
      nonce: await this.client.getTransactionCount({ address: PAYER.address }),
      to: this.#batcher,
      data,
      gas: 12_000_000n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    const { status, blockNumber, transactionHash } = await mined(
      this.client,
      this.client.sendRawTransaction({ serializedTransaction: raw }),
    );
    if (status !== 'success') throw new Error('the payment reverted');
    this.#sent.push({ height: blockNumber, raw });
    return transactionHash;
  }

  /** Transactions of payers, all in the newest block, which a reorganisation may move or drop. */
  async sendTogether(raws: readonly Hex[]): Promise<void> {
    await this.client.setAutomine(false);
    for (const raw of raws) await this.client.sendRawTransaction({ serializedTransaction: raw });
    await this.client.mine({ blocks: 1 });
    const height = await this.client.getBlockNumber({ cacheTime: 0 });
    for (const raw of raws) this.#sent.push({ height, raw });
  }

  async mine(blocks: number): Promise<void> {
    await this.client.mine({ blocks });
  }

  /** Replaces the newest blocks; payments in them vanish or move to the newest block. */
  async reorg(depth: number, { remine }: { remine: boolean } = { remine: false }): Promise<void> {
    const height = await this.client.getBlockNumber({ cacheTime: 0 });
    const moved = this.#sent.filter((one) => one.height > height - BigInt(depth));
    const kept = remine ? moved.map(({ raw }) => [raw, depth - 1]) : [];
    // Else empty blocks are replaced by the same ones.
    this.#forks += 1;
    await this.client.setCoinbase({ address: getAddress(this.recipient(900_000 + this.#forks)) });
    await this.client.request({ method: 'anvil_reorg' as 'anvil_reset', params: [depth, kept] as never });
    for (const one of moved) one.height = remine ? height : -1n;
  }

  /** Takes the newest blocks away, with all that lies in them: what comes after are other blocks. */
  async cutOff(depth: number): Promise<void> {
    this.#forks += 1;
    await this.client.request({ method: 'anvil_rollback' as 'anvil_reset', params: [depth] as never });
    await this.client.setCoinbase({ address: getAddress(this.recipient(900_000 + this.#forks)) });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.#anvil.stop();
  }

  async #fundPayers(): Promise<void> {
    const { client } = this;
    const send = async (
      from: Address,
      to: Address,
      functionName: 'mint' | 'approve',
      args: readonly [Address, bigint],
    ) =>
      mined(
        client,
        client.writeContract({
          ...by(OWNER),
          account: from === OWNER.address ? OWNER : from,
          address: to,
          abi: TestUSDT.abi,
          functionName,
          args,
        }),
      );
    await client.request({
      method: 'anvil_autoImpersonateAccount' as 'anvil_reset',
      params: [true] as never,
    });
    for (let i = 0; i < PAYERS; i++) {
      const payer = getAddress(this.recipient(7_000 + i));
      await client.setBalance({ address: payer, value: 10n ** 20n });
      for (const asset of ['USDT', 'USDC', null] as const) {
        await send(OWNER.address, this.token(asset), 'mint', [payer, FUNDS]);
        await send(payer, this.token(asset), 'approve', [this.#batcher, maxUint256]);
      }
    }
    await client.request({
      method: 'anvil_autoImpersonateAccount' as 'anvil_reset',
      params: [false] as never,
    });
    await this.mine(2 * FINAL_BLOCKS);
  }
}

function raise(): never {
  throw new Error('at least one');
}

const WALLETS = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'");

function addressesOf(account: number): AccountAddresses {
  return new AccountAddresses(WALLETS.derive(`m/${account}'`).publicExtendedKey);
}
