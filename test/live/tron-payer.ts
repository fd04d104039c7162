import type { Subscription } from '@florin/contract/schemas';
import { signTyped } from '../chains/tron/mandate-payers.ts';
import { call, keyOf, TRX } from '../nodes/tron-client.ts';
import type { TronStore } from './tron-store.ts';

/** What the subscribe page's calls answer. */
export interface Offer {
  wallet: string;
  cap: string;
  subscriptions: number;
  starts_at: number;
  steps: [{ spender: string; amount: string }, { typed_data: string }];
}

type Page = Pick<Subscription, 'checkout_url'>;
const CHOICE = { network: 'trc20', currency: 'USDT' };

/** A payer with a wallet on Tron, who gives mandates as the subscribe page has it. */
export class TronPayer {
  readonly address: string;
  readonly #key: ReturnType<typeof keyOf>;
  readonly #local: TronStore['local'];

  constructor({ local }: Pick<TronStore, 'local'>, name: string) {
    this.#local = local;
    this.#key = keyOf(name);
    this.address = this.#key.address;
  }

  /** @param funds in the smallest unit of USDT */
  static async start(store: Pick<TronStore, 'local'>, name: string, funds: bigint): Promise<TronPayer> {
    const payer = new TronPayer(store, name);
    store.local.node.fund(payer.address, 1_000 * TRX);
    await store.local.give('USDT', payer.address, funds);
    return payer;
  }

  balance() {
    return this.#local.balanceOf('USDT', this.address);
  }

  async approve(spender: string, amount: bigint): Promise<void> {
    const options = { contract: this.#local.token('USDT'), url: this.#local.node.url, validMs: 600_000 };
    const method = 'approve(address,uint256)';
    await this.#local.sendTogether([await call(this.#key, method, [spender, amount], options)]);
  }

  /** @throws Error where none is offered */
  async offer({ checkout_url: page = '' }: Page): Promise<Offer> {
    const { status, json } = await post(`${page}/mandate/offer`, { ...CHOICE, wallet: this.address });
    if (status !== 200) throw new Error(`no mandate is offered: ${JSON.stringify(json)}`);
    return json as Offer;
  }

  /** Signs what was offered and hands it in. */
  async give({ checkout_url: page = '' }: Page, { steps: [, activate], ...offer }: Offer) {
    const { wallet, cap, subscriptions, starts_at } = offer;
    const terms = { wallet, cap, subscriptions: String(subscriptions), starts_at: String(starts_at) };
    const signature = signTyped(this.#key.secret, activate.typed_data);
    return await post(`${page}/mandate/sign`, { ...CHOICE, ...terms, signature });
  }

  /** Approves and signs. */
  async subscribe(ordered: Page): Promise<void> {
    const offer = await this.offer(ordered);
    const [{ spender, amount }] = offer.steps;
    await this.approve(spender, BigInt(amount));
    const { status, json } = await this.give(ordered, offer);
    if (status !== 200) throw new Error(`the mandate is not taken: ${JSON.stringify(json)}`);
  }
}

async function post(url: string, form: Record<string, string>) {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: answer.status, json: (await answer.json()) as unknown };
}
