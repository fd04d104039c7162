import { baseUnits } from './amounts.ts';
import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment, type Transport } from './transport.ts';
import type {
  Amount,
  Balances,
  ChainControl,
  ChainHeight,
  ClockAdvanced,
  ClockState,
  CursorQuery,
  FundInput,
  Network,
  Payment,
  PaymentMethod,
  PaymentMethodChangeInput,
  Refund,
  SessionPayInput,
  SimulatedTransfer,
  Subscription,
  SubscriptionAuthorizeInput,
  TestAddresses,
} from './types.ts';

const PATH = '/test_helpers';

/** Sandbox merchants only: 403 for live ones. */
export class TestHelpers extends Resource {
  readonly checkout: { readonly sessions: SandboxPayer };
  readonly refunds: SandboxClaims;
  readonly subscriptions: SandboxSubscribers;
  readonly paymentMethods: SandboxWallets;

  constructor(transport: Transport) {
    super(transport);
    this.checkout = { sessions: new SandboxPayer(transport) };
    this.refunds = new SandboxClaims(transport);
    this.subscriptions = new SandboxSubscribers(transport);
    this.paymentMethods = new SandboxWallets(transport);
  }

  /**
   * Adds to the balance and to the simulated custody. Has no idempotency key, so it is not repeated when in doubt.
   *
   * @example
   * ```ts
   * await florin.testHelpers.fund({ currency: 'USDT', network: 'trc20', amount: usdt('1000') });
   * ```
   */
  async fund(input: FundInput): Promise<Balances> {
    const body = { ...input, amount: baseUnits(input.amount) };
    return this.post(`${PATH}/fund`, body, 'stop');
  }

  /**
   * Payout addresses whose transfers succeed, fail, get stuck or are refused for risk.
   *
   * @example
   * ```ts
   * const { trc20 } = await florin.testHelpers.addresses();
   * console.log(trc20.stuck);
   * ```
   */
  addresses(): Promise<TestAddresses> {
    return this.read(`${PATH}/addresses`);
  }

  /**
   * Transfers on the simulated chain, of one address or of all.
   *
   * @example
   * ```ts
   * for await (const { to, amount } of florin.testHelpers.transfers('erc20', address)) console.log(to, amount);
   * ```
   */
  transfers(network: Network, address?: string, page: CursorQuery = {}): CursorList<SimulatedTransfer> {
    const query = address === undefined ? page : { ...page, address };
    const path = `${PATH}/chains/${segment(network)}/transfers`;
    return this.pages(path, query, (transfer) => transfer.id);
  }

  /**
   * Mines, reorganises or disturbs a simulated chain. Not repeated when in doubt.
   *
   * @example
   * ```ts
   * await florin.testHelpers.controlChain('erc20', { mine: 12 });
   * ```
   */
  controlChain(network: Network, order: ChainControl): Promise<ChainHeight> {
    const path = `${PATH}/chains/${segment(network)}`;
    return this.post(path, order, 'stop');
  }

  /**
   * The merchant's clock, Unix seconds.
   *
   * @example
   * ```ts
   * console.log(new Date((await florin.testHelpers.now()) * 1000));
   * ```
   */
  async now(): Promise<number> {
    const clock = await this.read<ClockState>(`${PATH}/clock`);
    return clock.now;
  }

  /**
   * Moves the merchant's clock ahead; everything due on the way has happened when it answers. A long way takes several
   * calls, each up to 20 s.
   *
   * @returns the clock's new time, Unix seconds
   *
   * @example
   * ```ts
   * await florin.testHelpers.advanceClock(31 * 86_400); // renewals on the way have happened
   * ```
   */
  async advanceClock(seconds: number): Promise<number> {
    const until = (await this.now()) + seconds;
    for (let left = seconds; ; ) {
      const body = { seconds: left };
      const path = `${PATH}/clock/advance`;
      const clock = await this.post<ClockAdvanced>(path, body, 'stop');
      left = Math.max(0, until - clock.now);
      if (clock.done) return clock.now;
    }
  }
}

/** Plays the payer of sessions. */
class SandboxPayer extends Resource {
  /**
   * The payer chooses an option and sends; answers when the transfer is credited, with `final: false` when it is seen.
   * Not repeated when in doubt: it would pay twice.
   *
   * @example
   * ```ts
   * await florin.testHelpers.checkout.sessions.pay(sessionId, { currency: 'USDT', network: 'trc20' });
   * ```
   */
  async pay(sessionId: string, input: SessionPayInput): Promise<Payment> {
    const { amount, ...rest } = input;
    const body = amount === undefined ? rest : { ...rest, amount: baseUnits(amount) };
    const path = `${PATH}/checkout/sessions/${segment(sessionId)}/pay`;
    return this.post(path, body, 'stop');
  }
}

class SandboxClaims extends Resource {
  /**
   * The payer opens the claim link of a refund and names the address: once, so it is not repeated when in doubt.
   *
   * @example
   * ```ts
   * await florin.testHelpers.refunds.claim('order-17-returned', address);
   * ```
   */
  async claim(refundId: string, address: string): Promise<Refund> {
    const path = `${PATH}/refunds/${segment(refundId)}/claim`;
    return this.post(path, { address }, 'stop');
  }
}

/** Amounts of a body as the API takes them; what is left out stays out. */
function inUnits(amounts: Readonly<Record<string, Amount | undefined>>): Record<string, number> {
  const given = Object.entries(amounts).flatMap(([name, amount]): [string, number][] =>
    amount === undefined ? [] : [[name, baseUnits(amount)]],
  );
  return Object.fromEntries(given);
}

/** Plays the customer at the page of a subscription. */
class SandboxSubscribers extends Resource {
  /**
   * The customer gives a mandate from a new wallet and pays the first invoice if it is due; answers when that is final.
   * Not repeated when in doubt: each time is a mandate of its own.
   *
   * @example
   * ```ts
   * await florin.testHelpers.subscriptions.authorize(subscriptionId, { currency: 'USDC', network: 'erc20' });
   * ```
   */
  async authorize(subscriptionId: string, input: SubscriptionAuthorizeInput): Promise<Subscription> {
    const { cap, balance, ...rest } = input;
    const path = `${PATH}/subscriptions/${segment(subscriptionId)}/authorize`;
    const body = { ...rest, ...inUnits({ cap, balance }) };
    return this.post(path, body, 'stop');
  }
}

/** Changes the wallets behind payment methods. */
class SandboxWallets extends Resource {
  /**
   * Sets the wallet's balance and allowance, or revokes the mandate.
   *
   * @example
   * ```ts
   * await florin.testHelpers.paymentMethods.change(paymentMethodId, { balance: usdt('0') });
   * ```
   */
  async change(paymentMethodId: string, input: PaymentMethodChangeInput): Promise<PaymentMethod> {
    const { balance, allowance, ...rest } = input;
    const path = `${PATH}/payment_methods/${segment(paymentMethodId)}`;
    const body = { ...rest, ...inUnits({ balance, allowance }) };
    return this.post(path, body, 'repeat');
  }
}
