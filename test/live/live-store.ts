import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openKeyFile } from '@florin/signer';
import { SignerClient } from '@florin/signer/client';
import { type Account, type Address, parseEther, parseGwei } from 'viem';
import { expect, vi } from 'vitest';
import type { EvmNetwork } from '../../packages/server/src/chains/evm/network.ts';
import type { NetworksFile } from '../../packages/server/src/chains/evm/networks-file.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { installationApproverCommands } from '../../packages/server/src/operator/merchants.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { collectorDeployment } from '../../packages/signer/src/contracts.ts';
import { policyText } from '../../packages/signer/src/test-policy.ts';
import { FaultyNode } from '../chains/evm/faulty-node.ts';
import { hotWallet } from '../chains/evm/key-signer.ts';
import { startSigner } from '../chains/evm/real-signer.ts';
import { World } from '../chains/evm/world.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { bodyOf, caller, ok } from '../payouts/requests.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import {
  makeSignerFolder,
  PASSPHRASE,
  type SignerFolder,
  startSigner as startSignerProcess,
} from '../signer/signer-process.ts';

const addressOf = (text: string): Address => `0x${text.slice(2)}`;
export const COLLECTOR = addressOf(collectorDeployment().address);

/** The first account's hot wallet holds coins that no books know; this one holds nothing. */
export const ACCOUNT = 2;
export const WITHIN = { timeout: 90_000, interval: 250 };

type Parts = Pick<LiveStore, 'world' | 'service' | 'merchant' | 'signer' | 'node' | 'hot' | 'stop' | 'env'>;
interface ProcessParts {
  signerLog: () => readonly string[];
  files: SignerFolder;
  /** @param meanwhile runs while there is none. @param env of its next life */
  restartSigner: (meanwhile?: () => void, env?: Record<string, string>) => Promise<void>;
  /** How the present signer's process ends. */
  signerEnded: () => Promise<{ signal: NodeJS.Signals | null }>;
}
type PolicyChange = NonNullable<Parameters<typeof startSigner>[2]>;

interface StoreOptions {
  /** The network's ceiling. */
  gasPerTransaction?: bigint;
  /** Whether wallets can be charged. */
  collector?: boolean;
  /** Whether the signer's policy names the collector. */
  signsCharges?: boolean;
  /** False: workers are processes of the test. */
  worker?: boolean;
  /** An empty database; by default one of its own. */
  databaseUrl?: string;
}

const freeUpTo =
  (amount: string): PolicyChange =>
  ({ payouts, refunds }) => {
    payouts.approve_above = amount;
    refunds.approve_above = amount;
  };

/**
 * A live store on a local Ethereum with a signer of its own. Our contracts are on the chain and the gas tank holds ether;
 * the merchant's hot wallet has neither coins nor ether.
 */
export class LiveStore {
  readonly hot: Address;
  readonly world: World;
  /** Between the service and the world's own node. */
  readonly node: FaultyNode;
  readonly service: TestService;
  readonly merchant: TestMerchant;
  readonly signer: Awaited<ReturnType<typeof startSigner>>;
  readonly stop: () => Promise<void>;
  /** Of operators' commands on this store. */
  readonly env: Readonly<Record<string, string>>;

  #people: Promise<{ as: string; token: string }[]> | undefined;

  private constructor({ world, node, service, merchant, signer, hot, stop, env }: Parts) {
    this.world = world;
    this.node = node;
    this.service = service;
    this.merchant = merchant;
    this.signer = signer;
    this.hot = hot;
    this.stop = stop;
    this.env = env;
  }

  /**
   * @param change of the signer's policy; by default sums up to 1,000 need no people
   */
  static async start(
    change: PolicyChange = freeUpTo('1000.00'),
    {
      gasPerTransaction,
      collector = false,
      signsCharges = true,
      worker = true,
      databaseUrl,
    }: StoreOptions = {},
  ): Promise<LiveStore> {
    const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-'));
    const world = await World.start();
    for (const contract of ['batch_payout', 'sweeper'] as const)
      await world.move(world.sender(), { kind: 'deploy', contract });
    if (collector) await world.move(world.sender(), { kind: 'deploy', contract: 'collector' });
    const signer = await startSigner(world, folder, (policy) => {
      change(policy);
      if (signsCharges) policy.networks.erc20.collector = COLLECTOR;
      else delete policy.networks.erc20.collector;
    });
    const hot = hotWallet(ACCOUNT).address;
    return await LiveStore.#on(world, {
      signer,
      folder,
      hot,
      account: ACCOUNT,
      gasPerTransaction,
      collector: collector ? COLLECTOR : null,
      worker,
      databaseUrl,
    });
  }

  /**
   * As `start`, with `florin signer run` in a process of its own. The hot wallet holds ether, and coins that no books know:
   * payouts need no sweeps.
   *
   * @param worker false: workers are processes of the test
   */
  static async startBesideProcess(change: PolicyChange, worker = true): Promise<LiveStore & ProcessParts> {
    const world = await World.start();
    await world.move(world.sender(), { kind: 'deploy', contract: 'batch_payout' });
    const files = await makeSignerFolder();
    const policy = policyText();
    Object.assign(policy.networks.erc20, {
      tokens: world.tokens,
      batch_payout: world.network().batchPayout,
      gas_per_transaction: 16_777_216,
    });
    change(policy);
    writeFileSync(files.policy, JSON.stringify(policy), { mode: 0o600 });
    let process = await startSignerProcess(files);
    const client = new SignerClient({ socket: files.socket });
    const stop = async () => {
      client.close();
      await process.stop();
    };
    const keys = await openKeyFile(files.keyFile, PASSPHRASE);
    const hot = addressOf(keys.erc20.hot(1).address);
    await world.client.setBalance({ address: hot, value: parseEther('2') });
    await world.mint('USDT', hot, 10n ** 10n);
    const signer = { client, socket: files.socket, stop };
    const store = await LiveStore.#on(world, { signer, folder: files.folder, hot, account: 1, worker });
    return Object.assign(store, {
      signerLog: () => process.log,
      files,
      restartSigner: async (meanwhile = () => {}, env = {}) => {
        await process.stop();
        meanwhile();
        process = await startSignerProcess(files, env);
      },
      signerEnded: () => process.ended,
    });
  }

  static async #on(
    world: World,
    {
      signer,
      folder,
      hot,
      account,
      worker = true,
      gasPerTransaction,
      collector = null,
      databaseUrl,
    }: Pick<Parts, 'signer' | 'hot'> & {
      collector?: Address | null;
      folder: string;
      account: number;
      worker?: boolean;
      gasPerTransaction?: bigint | undefined;
      databaseUrl?: string | undefined;
    },
  ): Promise<LiveStore> {
    const { hash: genesisHash } = await world.client.getBlock({ blockNumber: 0n });
    const node = await FaultyNode.start(world.node.url);
    const endpoints = [{ url: node.url, isOwn: true }];
    const contracts = account === ACCOUNT ? { collector } : { sweeper: null };
    const { feeCeilings: ceilings } = world.network();
    const feeCeilings = gasPerTransaction === undefined ? ceilings : { ...ceilings, gasPerTransaction };
    const publicEndpoint = world.node.url;
    const network = world.network({ genesisHash, endpoints, publicEndpoint, feeCeilings, ...contracts });
    const masterKey = randomBytes(32);
    const service = await startService({
      worker,
      masterKey,
      ...(databaseUrl !== undefined && { databaseUrl }),
      live: { network, signer: { socket: signer.socket } },
    });
    // Accounts are given out in order.
    for (let other = 1; other < account; other++) await service.createMerchant({ mode: 'live' });
    const merchant = await service.createMerchant({ mode: 'live' });
    await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'erc20');
    const stop = async () => {
      await service.stop();
      await signer.stop();
      await node.stop();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    const env = {
      DATABASE_URL: service.app.databaseUrl,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
      FLORIN_NETWORKS_FILE: path.join(folder, 'networks.json'),
      FLORIN_SIGNER: `unix:${signer.socket}`,
    };
    writeFileSync(env.FLORIN_NETWORKS_FILE, JSON.stringify(networksFile(network)));
    return new LiveStore({ world, node, service, merchant, signer, hot, stop, env });
  }

  /** The same installation, of another merchant. */
  of(merchant: TestMerchant): LiveStore {
    return new LiveStore({ ...this, merchant });
  }

  get id(): string {
    return encodeId('merchant', this.merchant.merchantId);
  }

  /** A session that waits for tokens at an address of its own. */
  async open(tokens: number, currency: 'USDT' | 'USDC' = 'USDT') {
    const { service, merchant } = this;
    const session = await checkout(service, merchant).open({ amount: tokens * TOKEN, currency });
    const row = await getSession(service.app.db, merchant, session.id);
    const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
    const { options } = await chooseOption(service.app, who, row, { currency, network: 'erc20' });
    const option = options[0];
    return {
      paymentId: session.payment_id,
      address: addressOf(option?.address ?? ''),
      due: BigInt(option?.pay_amount ?? 0),
    };
  }

  /** As an exchange pays: what the session asks for comes in, block by block, until it is credited. */
  async paid(tokens: number, currency: 'USDT' | 'USDC' = 'USDT') {
    const opened = await this.open(tokens, currency);
    await this.world.mint(currency, opened.address, opened.due);
    await this.until(() => this.payment(opened.paymentId), { status: 'completed' });
    await this.world.mine(this.world.finalBlocks + 1);
    return opened;
  }

  payment(id: string) {
    return checkout(this.service, this.merchant).payment(id);
  }

  /** Submits a batch. @returns its id */
  async submitted(items: readonly { address: string; amount: string }[], currency = 'USDT'): Promise<string> {
    const id = await this.drafted(items, currency);
    await ok(caller(this.service, this.merchant).submit(id));
    return id;
  }

  /** @returns the id of a batch in draft */
  async drafted(items: readonly { address: string; amount: string }[], currency = 'USDT'): Promise<string> {
    const created = await caller(this.service, this.merchant).create({
      ...bodyOf(['1']),
      currency,
      items: items.map((item) => ({ real_name: 'Ada Lovelace', network: 'erc20', ...item })),
    });
    return String(created.json.batch_id);
  }

  batch(id: string) {
    return this.merchant.sdk.payouts.retrieve(id);
  }

  /** Mines block after block until the answer has these values. */
  async until(what: () => Promise<unknown>, expected: object): Promise<void> {
    await pollUntil(async () => {
      await this.world.mine(1);
      return await what();
    }, expected);
  }

  /** Sends a wallet's payment to itself by hand, which any other transaction of the sequence loses to. */
  async takeSequence(sequence: string | number | undefined, wallet: Account): Promise<void> {
    const raw = await wallet.signTransaction?.({
      type: 'eip1559',
      chainId: 31_337,
      nonce: Number(sequence),
      to: wallet.address,
      value: 0n,
      gas: 21_000n,
      maxFeePerGas: parseGwei('150'),
      maxPriorityFeePerGas: parseGwei('100'),
    });
    await this.world.node.call('eth_sendRawTransaction', [raw]);
  }

  /** Two people of the installation let real money go on. */
  async resume(): Promise<void> {
    const { app } = this.service;
    const { add } = installationApproverCommands(app);
    this.#people ??= Promise.all(['Ada', 'Grace'].map(async (as) => ({ as, token: (await add(as)).token })));
    const said = [];
    for (const person of await this.#people)
      said.push(await networkCommands(app).resume('erc20', undefined, person));
    expectLike(said, [
      { resumed: 0, agreed: 1 },
      { resumed: 1, agreed: 2 },
    ]);
  }

  /** Everything sent is final, and the books agree with the node. */
  async expectSettled(): Promise<void> {
    const { service, merchant, world } = this;
    await vi.waitFor(async () => {
      await world.mine(world.finalBlocks + 1);
      const sql = "select tx_id from transfer_attempt where merchant_id = $1 and status = 'sent'";
      expectLike(await asOwner(service, sql, [merchant.merchantId]), []);
    }, WITHIN);
    await this.expectBooksAgree();
  }

  /** `florin ledger verify` finds nothing, to the last unit, and could compare everything. */
  async expectBooksAgree(): Promise<void> {
    expectAgreed(await verifyLedger(this.service.app, () => {}));
  }
}

/** As an operator writes it. */
function networksFile(network: EvmNetwork): NetworksFile {
  const { tokens, finality, feeCeilings: fees } = network;
  const token = (asset: 'USDT' | 'USDC') => ({ address: tokens[asset]?.address ?? '', decimals: 6 }) as const;
  const erc20 = {
    name: network.name,
    test: network.isTest,
    endpoints: network.endpoints.map(({ url, isOwn: own }) => ({ url, own })),
    chain_id: network.chainId,
    genesis_hash: network.genesisHash,
    tokens: { USDT: token('USDT'), USDC: token('USDC') },
    contracts: { batch_payout: network.batchPayout, sweeper: network.sweeper, collector: network.collector },
    finality: { tag: finality.tag, early_confirmations: finality.earlyConfirmations },
    fee_ceilings: {
      max_fee_per_gas: String(fees.maxFeePerGas),
      max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
      gas_per_transaction: Number(fees.gasPerTransaction),
    },
    explorer: null,
  };
  return { networks: { erc20 } };
}

async function pollUntil(what: () => Promise<unknown>, expected: object): Promise<void> {
  await vi.waitFor(async () => expectLike(await what(), expected), WITHIN);
}

function expectLike(found: unknown, expected: object): void {
  expect(found).toMatchObject(expected);
}

function expectAgreed({ differences, unseen }: Awaited<ReturnType<typeof verifyLedger>>): void {
  expect(differences).toEqual([]);
  expect(unseen.filter((line) => line.includes('erc20'))).toEqual([]);
}
