import { ASSETS, type Network } from '@florin/contract/money';
import type { MerchantRef, PaymentDeps } from './deps.ts';
import type { OptionRow, PaymentView } from './queries.ts';
import { readAgain } from './second-pass.ts';

/** Blocks that are read again at first; ten times as many each time as the money is not among them. */
const DEPTH_MIN = 1_000n;
const DEPTH_MAX = 1_000_000n;

/**
 * Before a payment ends unpaid: where one of its addresses holds more than was credited, the reading of logs has missed
 * something, and blocks are read again until it is found.
 *
 * @throws ChainUnavailable
 */
export async function findMissed(deps: PaymentDeps, merchant: MerchantRef, view: PaymentView): Promise<void> {
  for (const [network, options] of Map.groupBy(view.options, (option) => option.network)) {
    const isMissing = await holdsMore(deps, merchant, { view, network, options });
    if (isMissing) await readBack(deps, merchant, network);
  }
}

async function holdsMore(
  deps: PaymentDeps,
  merchant: MerchantRef,
  { view, network, options }: { view: PaymentView; network: Network; options: readonly OptionRow[] },
): Promise<boolean> {
  const chain = deps.chains.of(merchant, network);
  const addresses = options.map((option) => option.address);
  for (const currency of ASSETS) {
    const { balances } = await chain.balances(addresses, currency, 'final');
    for (const [address, balance] of balances) {
      const own = view.transactions.filter(
        (t) => t.address === address && t.currency === currency && t.status === 'final' && t.lost_at === null,
      );
      // Of what is swept nobody knows here whether it has left: a later look at the books compares that.
      if (own.some((t) => t.sweep_id !== null)) continue;
      if (balance > own.reduce((sum, t) => sum + t.amount, 0n)) return true;
    }
  }
  return false;
}

/** What lies beyond the cursor is not missed: the next reading comes to it. */
async function readBack(deps: PaymentDeps, merchant: MerchantRef, network: Network): Promise<void> {
  const { finalHeight: upTo } = await deps.chains.of(merchant, network).head();
  for (let depth = DEPTH_MIN; depth <= DEPTH_MAX; depth *= 10n) {
    const { missed } = await readAgain(deps, merchant, { network, above: upTo - depth, upTo });
    if (missed > 0 || depth > upTo) return;
  }
  deps.log.error({ merchantId: merchant.merchantId, network }, 'coins at an address were found in no block');
}
