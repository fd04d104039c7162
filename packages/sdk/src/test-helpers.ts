import { baseUnits } from './amounts.ts';
import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type {
  Amount,
  Balances,
  ChainControl,
  ChainHeight,
  ClockAdvanced,
  ClockState,
  FundInput,
  Network,
  PageQuery,
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
export class TestHelpers {
  readonly checkout: { readonly sessions: SandboxPayer };
  readonly refunds: SandboxClaims;
  readonly subscriptions: SandboxSubscribers;
  readonly paymentMethods: SandboxWallets;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.checkout = { sessions: new SandboxPayer(transport) };
    this.refunds = new SandboxClaims(transport);
    this.subscriptions = new SandboxSubscribers(transport);
    this.paymentMethods = new SandboxWallets(transport);
  }

  /** Adds to the balance and to the simulated custody. Has no idempotency key, so it is not repeated when in doubt. */
  async fund(input: FundInput): Promise<Balances> {
    const body = { ...input, amount: baseUnits(input.amount) };
    return this.#transport.send({ method: 'POST', path: `${PATH}/fund`, body, onDoubt: 'stop' });
  }

  /** Payout addresses whose transfers succeed, fail, get stuck or are refused for risk. */
  addresses(): Promise<TestAddresses> {
    return this.#transport.send({ method: 'GET', path: `${PATH}/addresses`, onDoubt: 'repeat' });
  }

  /** Transfers on the simulated chain, of one address or of all. */
  transfers(network: Network, address?: string, page: PageQuery = {}): CursorList<SimulatedTransfer> {
    const query = address === undefined ? page : { ...page, address };
    const path = `${PATH}/chains/${segment(network)}/transfers`;
    return new CursorList(this.#transport, path, query, (transfer) => transfer.id);
  }

  /** Mines, reorganises or disturbs a simulated chain. Not repeated when in doubt. */
  controlChain(network: Network, order: ChainControl): Promise<ChainHeight> {
    const path = `${PATH}/chains/${segment(network)}`;
    return this.#transport.send({ method: 'POST', path, body: order, onDoubt: 'stop' });
  }

  /** The merchant's clock, Unix seconds. */
  async now(): Promise<number> {
    const clock = await this.#transport.send<ClockState>({
      method: 'GET',
      path: `${PATH}/clock`,
      onDoubt: 'repeat',
    });
    return clock.now;
  }

  /**
   * Moves the merchant's clock ahead; everything due on the way has happened when it answers. A long way takes several
   * calls, each up to 20 s.
   *
   * @returns the clock's new time, Unix seconds
   */
  async advanceClock(seconds: number): Promise<number> {
    const until = (await this.now()) + seconds;
    for (let left = seconds; ; ) {
      const body = { seconds: left };
      const path = `${PATH}/clock/advance`;
      const clock = await this.#transport.send<ClockAdvanced>({
        method: 'POST',
        path,
        body,
        onDoubt: 'stop',
      });
      left = Math.max(0, until - clock.now);
      if (clock.done) return clock.now;
    }
  }
}

/** Plays the payer of sessions. */
class SandboxPayer {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The payer chooses an option and sends; answers when the transfer is credited, with `final: false` when it is seen.
   * Not repeated when in doubt: it would pay twice.
   */
  async pay(sessionId: string, input: SessionPayInput): Promise<Payment> {
    const { amount, ...rest } = input;
    const body = amount === undefined ? rest : { ...rest, amount: baseUnits(amount) };
    const path = `${PATH}/checkout/sessions/${segment(sessionId)}/pay`;
    return this.#transport.send({ method: 'POST', path, body, onDoubt: 'stop' });
  }
}

class SandboxClaims {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The payer opens the claim link of a refund and names the address: once, so it is not repeated when in doubt. */
  async claim(refundId: string, address: string): Promise<Refund> {
    const path = `${PATH}/refunds/${segment(refundId)}/claim`;
    return this.#transport.send({ method: 'POST', path, body: { address }, onDoubt: 'stop' });
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
class SandboxSubscribers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The customer gives a mandate from a new wallet and pays the first invoice if it is due; answers when that is final.
   * Not repeated when in doubt: each time is a mandate of its own.
   */
  async authorize(subscriptionId: string, input: SubscriptionAuthorizeInput): Promise<Subscription> {
    const { cap, balance, ...rest } = input;
    const path = `${PATH}/subscriptions/${segment(subscriptionId)}/authorize`;
    const body = { ...rest, ...inUnits({ cap, balance }) };
    return this.#transport.send({ method: 'POST', path, body, onDoubt: 'stop' });
  }
}

/** Changes the wallets behind payment methods. */
class SandboxWallets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sets the wallet's balance and allowance, or revokes the mandate. */
  async change(paymentMethodId: string, input: PaymentMethodChangeInput): Promise<PaymentMethod> {
    const { balance, allowance, ...rest } = input;
    const path = `${PATH}/payment_methods/${segment(paymentMethodId)}`;
    const body = { ...rest, ...inUnits({ balance, allowance }) };
    return this.#transport.send({ method: 'POST', path, body, onDoubt: 'repeat' });
  }
}
