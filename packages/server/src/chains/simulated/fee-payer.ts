import type { Chain, Precheck, PrecheckRequest } from '../port/port.ts';
import { SigningBlocked } from '../port/port-errors.ts';
import { NETWORK_RULES } from './rules.ts';
import type { SimulatedTiming } from './timing.ts';
import { walletOfLabel } from './wallet.ts';

/** The gas tank of a simulated chain that pays for all transactions. */
export class FeePayer {
  readonly #address: string;
  readonly #chain: Pick<Chain, 'network' | 'balances'>;
  readonly #holds: () => bigint;
  readonly #areFrozen: () => boolean;

  private constructor(
    address: string,
    chain: Pick<Chain, 'network' | 'balances'>,
    { tankHolds, areFrozen = () => false }: Pick<SimulatedTiming, 'areFrozen'> & { tankHolds: () => bigint },
  ) {
    this.#address = address;
    this.#chain = chain;
    this.#holds = tankHolds;
    this.#areFrozen = areFrozen;
  }

  /** Undefined where each wallet pays its own fees. */
  static of(
    chain: Pick<Chain, 'network' | 'balances'>,
    { tankHolds, areFrozen }: Pick<SimulatedTiming, 'tankHolds' | 'areFrozen'>,
  ): FeePayer | undefined {
    const { network } = chain;
    if (tankHolds === undefined || NETWORK_RULES[network].sequenced) return undefined;
    const { address } = walletOfLabel(network, 'gas tank of all merchants');
    return new FeePayer(address, chain, { tankHolds, ...(areFrozen && { areFrozen }) });
  }

  /** New are recipients who hold nothing of the token. */
  async precheck({ transactions, asset }: PrecheckRequest): Promise<Precheck> {
    const counts = transactions.map((one) => (typeof one === 'number' ? one : one.length));
    const recipients = transactions.flatMap((one) =>
      typeof one === 'number' ? [] : one.map(({ to }) => to),
    );
    const { balances } = await this.#chain.balances(recipients, asset, 'tip');
    const native = this.#holds();
    const fee = this.#costOf(0);
    return {
      refused: this.#areFrozen() ? 'sender_blacklisted' : null,
      unpayable: new Set(),
      fees: counts.map((count) => this.#costOf(count)),
      native,
      allowance: null,
      isDelegateMissing: false,
      movementFees: { gas: 0n, approve: 0n, deploy: 0n },
      tank: { address: this.#address, native, nextSequence: null },
      paidByTank: {
        fee,
        opening: this.#costOf(1) - fee,
        newRecipients: new Set(recipients.filter((to) => !balances.has(to))),
      },
    };
  }

  /** @throws SigningBlocked where no block would take the transaction */
  assertPaid(items: number): void {
    const cost = this.#costOf(items);
    const held = this.#holds();
    if (held < cost)
      throw new SigningBlocked(this.#chain.network, 'tank', `the gas tank holds ${held}, less than ${cost}`);
  }

  #costOf(items: number): bigint {
    return NETWORK_RULES[this.#chain.network].estimateFee('transfer', items).native;
  }
}
