import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { TOKEN_CONTRACTS } from '../../packages/server/src/chains/addresses/token-contracts.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { settingCommands } from '../../packages/server/src/operator/settings.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { advanceClockJobs } from '../../packages/server/src/platform/jobs/index.ts';
import { createLogger } from '../../packages/server/src/platform/observability/index.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from '../chains/solana/environment.ts';
import { KEYS } from '../chains/solana/key-signer.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { asOwner } from '../ledger.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { startWholeSigner } from '../signer/whole-signer.ts';
import { ETHEREUM_AWAY } from './ethereum-away.ts';

const WITHIN = { timeout: 40_000, interval: 150 };

type Parts = Pick<SolanaStore, 'local' | 'service' | 'merchant' | 'signer' | 'env' | 'logged' | 'stop'>;

/** A live store on a local Solana, with a signer behind its socket. Nothing answers for Ethereum. */
export class SolanaStore {
  readonly local: SolanaEnvironment;
  readonly service: TestService;
  readonly merchant: TestMerchant;
  readonly signer: Awaited<ReturnType<typeof startWholeSigner>>;
  /** Of operators' commands on this store, and of workers that are processes. */
  readonly env: Readonly<Record<string, string>>;
  /** Errors. */
  readonly logged: readonly Record<string, unknown>[];
  readonly stop: () => Promise<void>;

  private constructor(parts: Parts) {
    this.local = parts.local;
    this.service = parts.service;
    this.merchant = parts.merchant;
    this.signer = parts.signer;
    this.env = parts.env;
    this.logged = parts.logged;
    this.stop = parts.stop;
  }

  /** @param worker false: workers are processes of the test */
  static async start(worker = true): Promise<SolanaStore> {
    const folder = mkdtempSync(path.join(tmpdir(), 'florin-live-solana-'));
    const local = await SolanaEnvironment.start();
    const { genesisHash, feeCeilings, tokens } = local.network;
    const signer = await startWholeSigner((policy) => {
      Object.assign(policy.networks.spl, {
        genesis: genesisHash,
        tokens: { USDT: tokens.USDT?.mint, USDC: tokens.USDC?.mint },
        compute_units: feeCeilings.computeUnits,
        priority_fee: String(feeCeilings.priorityFee),
        // Of a full run of kills, each transaction at its dearest.
        native_fee_per_day: '2000000000',
      });
      policy.payouts.approve_above = '1000.00';
      policy.refunds.approve_above = '1000.00';
    });
    const masterKey = randomBytes(32);
    const logged: Record<string, unknown>[] = [];
    const service = await startService({
      worker,
      masterKey,
      log: createLogger('error', { write: (line) => void logged.push(JSON.parse(line)) }),
      live: { network: ETHEREUM_AWAY, solana: local.network, signer: { socket: signer.socket } },
    });
    const merchant = await openMerchant(service);
    await settingCommands(service.app).set('refunds.delay_seconds', '0');
    const stop = async () => {
      await service.stop();
      await signer.stop();
      await local.node.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    const env = {
      FLORIN_NETWORKS_FILE: writeNetworks(folder, local),
      FLORIN_SIGNER: `unix:${signer.socket}`,
      FLORIN_MASTER_KEY: masterKey.toString('hex'),
    };
    return new SolanaStore({ local, service, merchant, signer, env, logged, stop });
  }

  /** Another merchant of the installation. */
  async another(): Promise<TestMerchant> {
    return await openMerchant(this.service);
  }

  /** Time passes for merchants, and for what is due by then. */
  async pass(merchants: readonly TestMerchant[], seconds: number): Promise<void> {
    for (const { merchantId } of merchants) {
      const clock = 'update merchant set clock_offset = clock_offset + $2 where merchant_id = $1';
      await asOwner(this.service, clock, [merchantId, seconds]);
      await transact(this.service.app.db, (tx) =>
        advanceClockJobs(tx, merchantId, { ms: seconds * 1_000, nowMs: Date.now(), retryKinds: [] }),
      );
    }
  }

  /** Makes blocks until the answer has these values. */
  async until(what: () => Promise<unknown>, expected: object): Promise<void> {
    await vi.waitFor(async () => {
      this.local.mine(2);
      expectLike(await what(), expected);
    }, WITHIN);
  }

  /** The signer has named the first deposit addresses. */
  async untilNamed(): Promise<void> {
    const named = () =>
      this.service.app.chains.of({ ...this.merchant, mode: 'live' }, 'spl').sender('deposit:0');
    await this.until(async () => ({ first: await named().catch(() => undefined) }), {
      first: KEYS.deposit(1, 0).address,
    });
  }

  /** A payer sends what a session asks for: it is in a block, and not credited yet. */
  async pay(tokens: number): Promise<{ paymentId: string; to: string }> {
    const { service, merchant, local } = this;
    const session = await checkout(service, merchant).open({ amount: tokens * TOKEN, currency: 'USDC' });
    const row = await getSession(service.app.db, merchant, session.id);
    const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
    const { options } = await chooseOption(service.app, who, row, { currency: 'USDC', network: 'spl' });
    const to = options[0]?.address ?? '';
    const amount = BigInt(options[0]?.pay_amount ?? 0);
    await local.pay([{ from: local.wallet('a payer'), to, asset: 'USDC', amount }]);
    return { paymentId: session.payment_id, to };
  }

  /** As `pay`, until it is credited. */
  async paid(tokens: number): Promise<{ paymentId: string; to: string }> {
    const paid = await this.pay(tokens);
    await this.until(() => this.payment(paid.paymentId), {
      status: 'completed',
      amount_received: tokens * TOKEN,
    });
    return paid;
  }

  payment(id: string) {
    return checkout(this.service, this.merchant).payment(id);
  }

  /** `florin ledger verify` finds nothing, to the last unit, and could compare everything. */
  async expectBooksAgree(): Promise<void> {
    this.local.mine(FINAL_BLOCKS + 1);
    expectAgreed(await verifyLedger(this.service.app, () => {}));
  }
}

function expectLike(found: unknown, expected: object): void {
  expect(found).toMatchObject(expected);
}

function expectAgreed({ differences, surpluses, unseen }: Awaited<ReturnType<typeof verifyLedger>>): void {
  expect({ differences, surpluses }).toEqual({ differences: [], surpluses: [] });
  expect(unseen.filter((line) => line.includes('spl'))).toEqual([]);
}

async function openMerchant(service: TestService): Promise<TestMerchant> {
  const merchant = await service.createMerchant({ mode: 'live', network: 'spl' });
  await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), 'spl');
  return merchant;
}

/** As an operator writes it. @returns the file */
export function writeNetworks(
  folder: string,
  { node, network }: SolanaEnvironment,
  genesisHash = network.genesisHash,
): string {
  const { USDT, USDC } = network.tokens;
  const token = (one: { mint: string } | undefined) => ({ address: one?.mint ?? '', decimals: 6 });
  const own = { test: true, explorer: null };
  const erc20 = {
    ...own,
    name: ETHEREUM_AWAY.name,
    endpoints: ETHEREUM_AWAY.endpoints.map(({ url }) => ({ url, own: true })),
    chain_id: ETHEREUM_AWAY.chainId,
    genesis_hash: ETHEREUM_AWAY.genesisHash,
    tokens: { USDT: { address: TOKEN_CONTRACTS.erc20.USDT, decimals: 6 } },
    contracts: { batch_payout: null, sweeper: null },
    finality: { tag: 'finalized', early_confirmations: null },
    fee_ceilings: { max_fee_per_gas: '1', max_priority_fee_per_gas: '1', gas_per_transaction: 1_000_000 },
  };
  const spl = {
    ...own,
    name: 'Solana',
    endpoints: [{ url: node.url, own: true }],
    genesis_hash: genesisHash,
    tokens: { USDT: token(USDT), USDC: token(USDC) },
    fee_ceilings: { compute_units: 600_000, priority_fee: '1000000' },
  };
  const file = path.join(folder, 'networks.json');
  writeFileSync(file, JSON.stringify({ networks: { erc20, spl } }));
  return file;
}
