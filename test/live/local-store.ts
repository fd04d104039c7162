import type { Asset, Network } from '@florin/contract/money';
import { expect, vi } from 'vitest';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { networkCommands } from '../../packages/server/src/operator/networks.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { transact } from '../../packages/server/src/platform/db/index.ts';
import { advanceClockJobs } from '../../packages/server/src/platform/jobs/index.ts';
import { verifyLedger } from '../../packages/server/src/reconciliation/verify-ledger.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import type { PayerTransfer } from '../chains/conformance-environment.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import type { TestMerchant, TestService } from '../service.ts';
import type { startWholeSigner } from '../signer/whole-signer.ts';
import { moveClock } from '../transfers/payouts.ts';

const WITHIN = { timeout: 90_000, interval: 150 };

/** A local network, and people on it who pay. */
export interface LocalNetwork {
  mine(blocks: number): void | Promise<void>;
  wallet(name: string): string;
  pay(transfers: readonly PayerTransfer[]): unknown;
}

export interface StoreParts<Local extends LocalNetwork> {
  local: Local;
  network: Network;
  /** In which payers pay. */
  asset: Asset;
  /** Confirmations of a final block. */
  finalBlocks: number;
  /** Blocks that are made before each look at what is waited for. */
  blocksAtOnce: number;
  service: TestService;
  merchant: TestMerchant;
  signer: Awaited<ReturnType<typeof startWholeSigner>>;
  /** Of operators' commands on this store, and of workers that are processes. */
  env: Readonly<Record<string, string>>;
  /** Errors. */
  logged: Record<string, unknown>[];
  stop: () => Promise<void>;
}

/** A live store on a local network beside an Ethereum that is away, with a signer behind its socket. */
export class LocalStore<Local extends LocalNetwork> {
  readonly local: Local;
  readonly network: Network;
  readonly asset: Asset;
  readonly service: TestService;
  readonly merchant: TestMerchant;
  readonly signer: StoreParts<Local>['signer'];
  readonly env: Readonly<Record<string, string>>;
  readonly logged: Record<string, unknown>[];
  readonly stop: () => Promise<void>;
  readonly #finalBlocks: number;
  readonly #blocksAtOnce: number;

  constructor(parts: StoreParts<Local>) {
    this.local = parts.local;
    this.network = parts.network;
    this.asset = parts.asset;
    this.service = parts.service;
    this.merchant = parts.merchant;
    this.signer = parts.signer;
    this.env = parts.env;
    this.logged = parts.logged;
    this.stop = parts.stop;
    this.#finalBlocks = parts.finalBlocks;
    this.#blocksAtOnce = parts.blocksAtOnce;
  }

  /** The merchant's chain, as the service has it. */
  get chain() {
    return this.service.app.chains.of({ ...this.merchant, mode: 'live' }, this.network);
  }

  /** Another merchant of the installation. */
  async another(): Promise<TestMerchant> {
    return await openMerchant(this.service, this.network);
  }

  /** Time passes for merchants, and for what is due by then. */
  async pass(merchants: readonly TestMerchant[], seconds: number): Promise<void> {
    for (const merchant of merchants) {
      await moveClock(this.service, { merchant }, seconds);
      await transact(this.service.app.db, (tx) =>
        advanceClockJobs(tx, merchant.merchantId, { ms: seconds * 1_000, nowMs: Date.now(), retryKinds: [] }),
      );
    }
  }

  /** Deposit addresses can be given out. */
  async untilNamed(): Promise<void> {}

  /** Makes blocks until the answer has these values. */
  async until(what: () => Promise<unknown>, expected: object): Promise<void> {
    await vi.waitFor(async () => {
      await this.local.mine(this.#blocksAtOnce);
      expectLike(await what(), expected);
    }, WITHIN);
  }

  /** A payer sends what a session asks for: it is in a block, and not credited yet. */
  async pay(tokens: number): Promise<{ paymentId: string; to: string }> {
    const { service, merchant, local, asset, network } = this;
    const session = await checkout(service, merchant).open({ amount: tokens * TOKEN, currency: asset });
    const row = await getSession(service.app.db, merchant, session.id);
    const who = { merchantId: merchant.merchantId, mode: 'live', clockOffset: 0 } as const;
    const { options } = await chooseOption(service.app, who, row, { currency: asset, network });
    const to = options[0]?.address ?? '';
    const amount = BigInt(options[0]?.pay_amount ?? 0);
    await local.pay([{ from: local.wallet('a payer'), to, asset, amount }]);
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
    await this.local.mine(this.#finalBlocks + 1);
    expectAgreed(await verifyLedger(this.service.app, () => {}), this.network);
  }
}

function expectLike(found: unknown, expected: object): void {
  expect(found).toMatchObject(expected);
}

function expectAgreed(
  { differences, surpluses, unseen }: Awaited<ReturnType<typeof verifyLedger>>,
  network: Network,
): void {
  expect({ differences, surpluses }).toEqual({ differences: [], surpluses: [] });
  expect(unseen.filter((line) => line.includes(network))).toEqual([]);
}

export async function openMerchant(service: TestService, network: Network): Promise<TestMerchant> {
  const merchant = await service.createMerchant({ mode: 'live', network });
  await networkCommands(service.app).enable(encodeId('merchant', merchant.merchantId), network);
  return merchant;
}
