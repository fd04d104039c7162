import { randomUUID } from 'node:crypto';
import type { Asset } from '@florin/contract/money';
import { type Account, type Address, parseEther } from 'viem';
import { TestUSDC, TestUSDT } from '../../../contracts/artifacts/index.ts';
import type { EvmNetwork } from '../../../packages/server/src/chains/evm/network.ts';
import type { EvmNode } from '../../../packages/server/src/chains/evm/node.ts';
import { readQuantity, readRecord } from '../../../packages/server/src/chains/evm/node-answers.ts';
import { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import type {
  Head,
  Movement,
  MovementSpec,
  SignedTx,
  SweepItem,
  SweepSpec,
  TransferItem,
  TransferSpec,
  TxStatus,
} from '../../../packages/server/src/chains/port/port.ts';
import { batchPayoutDeployment, sweeperDeployment } from '../../../packages/signer/src/contracts.ts';
import { type Anvil, startAnvil } from '../../../scripts/anvil.ts';
import {
  by,
  connect,
  deploy,
  deployUsdc,
  type LocalClient,
  mined,
  OWNER,
} from '../../../scripts/local-chain.ts';
import { freshAddress } from '../../contracts/local-node.ts';
import { nextSigning } from '../next-signing.ts';
import { DirectNode } from './direct-node.ts';
import { depositWallet, hotWallet, KeySigner, ownerWallet, TANK } from './key-signer.ts';

const SLOTS_IN_AN_EPOCH = 2;
/** `finalized` is so many blocks behind the newest, unless a world is started otherwise. */
export const FINAL_BLOCKS = 2 * SLOTS_IN_AN_EPOCH;
export const AMOUNT = 1_230_000n;
const FUNDS = 10n ** 12n;

/** A node with tokens, our contracts by the deterministic deployer, and one merchant with its wallets. */
export class World {
  readonly client: LocalClient;
  readonly node: DirectNode;
  readonly signer = new KeySigner();
  readonly tokens: Record<Asset, Address>;
  readonly merchantId = randomUUID();
  finalBlocks = FINAL_BLOCKS;
  /** Its wallet starts with sequence 0. */
  readonly hot: Address;
  readonly account: number;
  readonly #stop: () => Promise<void>;

  constructor(
    { client, url, tokens }: { client: LocalClient; url: string; tokens: Record<Asset, Address> },
    account: number,
    stop: () => Promise<void>,
  ) {
    this.client = client;
    this.node = new DirectNode(url);
    this.tokens = tokens;
    this.account = account;
    this.hot = hotWallet(account).address;
    this.#stop = stop;
  }

  /** Everything is final and nothing is approved. The hot wallet has coins and no ether; the tank has ether. */
  static async start(slotsInAnEpoch = SLOTS_IN_AN_EPOCH): Promise<World> {
    const anvil: Anvil = await startAnvil({ slotsInAnEpoch });
    try {
      const client = connect(anvil.url);
      const tokens = { USDT: await deploy(client, TestUSDT), USDC: await deployUsdc(client) };
      const world = new World({ client, url: anvil.url, tokens }, 1, () => anvil.stop());
      world.finalBlocks = 2 * slotsInAnEpoch;
      await client.setBalance({ address: TANK.address, value: parseEther('10') });
      for (const asset of ['USDT', 'USDC'] as const) await world.mint(asset, world.hot, FUNDS);
      await client.setAutomine(false);
      await world.mine(world.finalBlocks);
      return world;
    } catch (error) {
      await anvil.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  network(changes: Partial<EvmNetwork> = {}): EvmNetwork {
    return {
      name: 'Ethereum (local node)',
      isTest: true,
      endpoints: [],
      chainId: 31_337,
      publicEndpoint: null,
      genesisHash: '0x',
      tokens: { USDT: { address: this.tokens.USDT }, USDC: { address: this.tokens.USDC } },
      batchPayout: batchPayoutDeployment().address,
      sweeper: sweeperDeployment(TANK.address).address,
      collector: null,
      finality: { tag: 'finalized', earlyConfirmations: 12 },
      feeCeilings: {
        maxFeePerGas: 200_000_000_000n,
        maxPriorityFeePerGas: 10_000_000_000n,
        gasPerTransaction: 16_777_216n,
      },
      explorer: null,
      ...changes,
    };
  }

  sender(changes: Partial<EvmNetwork> = {}, account = this.account, node: EvmNode = this.node): EvmSender {
    return new EvmSender({
      network: this.network(changes),
      node,
      signer: this.signer,
      merchantId: this.merchantId,
      wallets: {
        account,
        hot: hotWallet(account).address,
        owner: ownerWallet(account).address,
        tank: TANK.address,
        deposit: async (index) => depositWallet(account, index).address,
      },
      head: () => this.head(),
    });
  }

  async head(): Promise<Head> {
    const [newest, final] = await Promise.all([this.#block('latest'), this.#block('finalized')]);
    const number = (block: Record<string, unknown>) => readQuantity(block.number, 'number');
    return {
      height: number(newest),
      finalHeight: number(final),
      time: Number(readQuantity(newest.timestamp, 'timestamp')),
    };
  }

  async #block(tag: string): Promise<Record<string, unknown>> {
    return readRecord(await this.node.call('eth_getBlockByNumber', [tag, false]), 'block');
  }

  async mine(blocks = 1): Promise<void> {
    await this.client.mine({ blocks });
  }

  /** Replaces the newest blocks by empty ones. */
  async reorganise(depth: number): Promise<void> {
    await this.node.call('anvil_reorg', [depth, []]);
  }

  /** Takes the newest blocks away. */
  async cutOff(blocks: number): Promise<void> {
    await this.node.call('anvil_rollback', [blocks]);
  }

  /** By the owner of the tokens, in a block of its own. */
  async mint(asset: Asset, to: Address, amount: bigint): Promise<void> {
    await this.own(asset, 'mint', [to, amount]);
  }

  async pause(asset: Asset): Promise<void> {
    await this.own(asset, 'pause', []);
  }

  async list(asset: Asset, account: Address): Promise<void> {
    await this.own(asset, asset === 'USDT' ? 'addBlackList' : 'blacklist', [account]);
  }

  /** From anybody's wallet, in a block of its own. */
  async transfer(asset: Asset, from: Account, to: Address, amount: bigint): Promise<void> {
    await this.own(asset, 'transfer', [to, amount], from);
  }

  async own(
    asset: Asset,
    functionName: string,
    args: readonly unknown[],
    sender: Account = OWNER,
  ): Promise<void> {
    const { abi } = asset === 'USDT' ? TestUSDT : TestUSDC;
    const address = this.tokens[asset];
    const hash = this.client.writeContract({
      ...by(sender, 300_000n),
      address,
      abi: abi as never,
      functionName: functionName as never,
      args: args as never,
    });
    await hash;
    await this.mine();
    const { status } = await mined(this.client, hash);
    if (status !== 'success') throw new Error(`${functionName} reverted`);
  }

  async balance(asset: Asset, account: Address): Promise<bigint> {
    return await this.client.readContract({
      address: this.tokens[asset],
      abi: TestUSDT.abi,
      functionName: 'balanceOf',
      args: [account],
    });
  }

  async sequenceOf(address: Address): Promise<string> {
    return String(await this.client.getTransactionCount({ address, blockTag: 'latest' }));
  }

  /** Sends one and makes it final. */
  async settle(sender: EvmSender, tx: SignedTx): Promise<TxStatus> {
    const answer = await sender.broadcast(tx);
    if (answer.result !== 'accepted') throw new Error(`broadcast: ${JSON.stringify(answer)}`);
    await this.mine(this.finalBlocks + 1);
    return await sender.status(tx);
  }

  async move(
    sender: EvmSender,
    movement: Movement,
    by: Partial<MovementSpec> = {},
  ): Promise<{ tx: SignedTx; status: TxStatus }> {
    const keyRef = by.keyRef ?? (movement.kind === 'approve' ? 'hot' : 'tank');
    const wallet = keyRef === 'tank' ? TANK.address : this.hot;
    const sequence = await this.sequenceOf(wallet);
    const tx = await sender.buildMovement({ signing: nextSigning(), keyRef, movement, sequence, ...by });
    return { tx, status: await this.settle(sender, tx) };
  }

  /** Ether for the hot wallet, our contracts, allowances: as an installation begins. */
  async furnish(): Promise<void> {
    const sender = this.sender();
    for (const contract of ['batch_payout', 'sweeper', 'sweep_delegate'] as const) {
      await this.move(sender, { kind: 'deploy', contract });
    }
    await this.move(sender, { kind: 'gas', amount: parseEther('1') });
    for (const asset of ['USDT', 'USDC'] as const) {
      await this.move(sender, { kind: 'approve', asset, amount: FUNDS });
    }
  }

  /** Balances, nonces and blocks as they were; for `beforeEach`. */
  async snapshot(): Promise<() => Promise<void>> {
    const id = await this.client.snapshot();
    return () => this.client.revert({ id });
  }
}

/** A payout of items at places from 0, and its authority. */
export function payout(
  asset: Asset,
  items: readonly { to: string; amount?: bigint }[],
  changes: Partial<TransferSpec> = {},
): TransferSpec {
  const id = changes.groupId ?? randomUUID();
  const list = items.map(
    ({ to, amount = AMOUNT }, place): TransferItem => ({ itemId: randomUUID(), place, to, amount }),
  );
  return {
    signing: nextSigning(),
    keyRef: 'hot',
    asset,
    groupId: id,
    items: list,
    authority: {
      kind: 'payout',
      merchantId: 'mch',
      id,
      network: 'erc20',
      asset,
      items: list.map(({ place, to, amount }) => ({ place, to, amount, memo: null })),
      approvals: [],
    },
    ...changes,
  };
}

/** Recipients that hold nothing. */
export const fresh = (count: number, from = 0): { to: string }[] =>
  Array.from({ length: count }, (_, i) => ({ to: freshAddress(from + i) }));

export function sweepOf(items: Omit<SweepItem, 'itemId'>[], changes: Partial<SweepSpec> = {}): SweepSpec {
  const list = items.map((item) => ({ ...item, itemId: randomUUID() }));
  return { signing: nextSigning(), items: list, sequence: '0', ...changes };
}
