import { randomUUID } from 'node:crypto';
import type { Network } from '@florin/contract/money';
import type { CheckoutSession, Payment, PaymentOption } from '@florin/contract/schemas';
import { sql } from 'kysely';
import type { App } from '../../packages/server/src/app.ts';
import {
  openChains,
  type PaidTransfer,
  type SimulatedChain,
  type SimulatedTiming,
} from '../../packages/server/src/chains/index.ts';
import { getSession } from '../../packages/server/src/checkout/index.ts';
import { chooseOption } from '../../packages/server/src/payments/choose-option.ts';
import { scanDeposits } from '../../packages/server/src/payments/deposits/scan-deposits.ts';
import { expirePayment } from '../../packages/server/src/payments/expire-payment.ts';
import type { JobRun } from '../../packages/server/src/platform/jobs/index.ts';
import { jobOf } from '../job.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { checkout, TOKEN } from './requests.ts';

const HUNDRED = 100n * BigInt(TOKEN);
const RUN: JobRun = {
  step: () => Promise.reject(new Error('unused')),
  finish: () => Promise.reject(new Error('unused')),
  onRevision: () => {},
  signal: new AbortController().signal,
};

export type Sent = Partial<Pick<PaidTransfer, 'from' | 'amount'>> &
  ({ asset?: 'USDT' | 'USDC'; token?: never } | { asset: null; token: string });

/** A payment that the payer has chosen an option of. */
export interface Due {
  session: CheckoutSession;
  paymentId: string;
  address: string;
}

/**
 * A merchant's deposits on chains whose time stands still until the test moves it, without a worker: networks are read
 * when the test says so.
 */
export class Shop {
  readonly merchant: TestMerchant;
  readonly api: ReturnType<typeof checkout>;
  readonly deps: App;
  readonly #chains: ReturnType<typeof openChains>;
  #now: number;

  private constructor(service: TestService, merchant: TestMerchant, timing: SimulatedTiming | undefined) {
    this.merchant = merchant;
    this.api = checkout(service, merchant);
    this.#now = Math.floor(Date.now() / 1000);
    const { app } = service;
    const clock: App['clock'] = Object.assign(Object.create(app.clock), {
      nowMs: () => this.#now * 1000,
      nowSeconds: () => this.#now,
    });
    const merchantNow = async () => this.#now;
    this.#chains = openChains({ simulatedDb: app.simulatedDb, merchantNow, timing });
    this.deps = { ...app, clock, chains: this.#chains };
  }

  static async open(service: TestService, timing?: SimulatedTiming): Promise<Shop> {
    return new Shop(service, await service.createMerchant({ funds: 0n }), timing);
  }

  get now(): number {
    return this.#now;
  }

  /** Blocks come with the time, one a second. */
  wait(seconds: number): void {
    this.#now += seconds;
  }

  chain(network: Network = 'erc20'): SimulatedChain {
    return this.#chains.sandbox(this.merchant.merchantId, network);
  }

  /** A session over 100 USDT, payable on a network. */
  async due(body: object = {}, option: PaymentOption = { currency: 'USDT', network: 'erc20' }): Promise<Due> {
    const session = await this.api.open(body);
    return { session, paymentId: session.payment_id, address: await this.choose(session.id, option) };
  }

  /** @returns the address of that option */
  async choose(sessionId: string, option: PaymentOption): Promise<string> {
    const row = await getSession(this.deps.db, this.merchant, sessionId);
    const who = { merchantId: this.merchant.merchantId, mode: 'sandbox', clockOffset: 0 } as const;
    const { options } = await chooseOption(this.deps, who, row, option);
    const own = options.find((o) => o.currency === option.currency && o.network === option.network);
    if (own === undefined) throw new Error('an option was chosen');
    return own.address;
  }

  /** Sends to an address, all in one transaction in the newest block. @returns its id */
  async send(to: string, sent: Sent | readonly Sent[] = {}, network: Network = 'erc20'): Promise<string> {
    const { address: payer } = await this.chain(network).depositAddress({ index: 1_000_000 });
    const transfers = [sent]
      .flat()
      .map(
        ({ from = payer, amount = HUNDRED, ...what }): PaidTransfer =>
          what.asset === null
            ? { from, to, amount, ...what }
            : { from, to, amount, asset: what.asset ?? 'USDT' },
      );
    return await this.chain(network).pay({ transfers, reference: randomUUID() });
  }

  /** One scan of a network, as a worker runs it. @returns when the next one is due, in milliseconds from now */
  async scan(network: Network = 'erc20', deps: App = this.deps): Promise<number> {
    const outcome = await scanDeposits(deps, jobOf(this.merchant.merchantId, { network }), RUN);
    return outcome === 'done' ? 0 : outcome.againAtMs - this.#now * 1000;
  }

  /** What was sent becomes final, and is read. */
  async settle(network: Network = 'erc20'): Promise<void> {
    await this.chain(network).mine(3);
    await this.scan(network);
  }

  /** The job that ends a payment. @returns whether it needs to come again */
  async expire({ session }: Due): Promise<boolean> {
    const { payment_id: paymentId } = await getSession(this.deps.db, this.merchant, session.id);
    return (await expirePayment(this.deps, jobOf(this.merchant.merchantId, { paymentId }))) !== 'done';
  }

  payment({ paymentId }: Due): Promise<Payment> {
    return this.api.payment(paymentId);
  }

  async balance(currency = 'USDT'): Promise<{ available: number; held: number; seized: number }> {
    const { data } = await this.merchant.sdk.balances.retrieve();
    const { available = 0, held = 0, seized = 0 } = data.find((row) => row.currency === currency) ?? {};
    return { available, held, seized };
  }

  /** Forgets how far networks were read: all blocks there ever were come again. */
  async forget(): Promise<void> {
    await sql`update deposit_cursor set cursor = null where merchant_id = ${this.merchant.merchantId}`.execute(
      this.deps.db,
    );
  }
}
