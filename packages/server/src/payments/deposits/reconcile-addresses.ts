import { ASSETS, type Network } from '@florin/contract/money';
import type { MerchantRef, PaymentDeps } from '../deps.ts';
import type { OptionRow, PaymentView } from '../reads/queries.ts';
import { rescanBlocks } from './rescan.ts';

/** Blocks of the first rescan; each further one covers ten times as many, until the money is found. */
const DEPTH_MIN = 1_000n;
const DEPTH_MAX = 1_000_000n;

/**
 * Compares the balances of a payment's addresses with what was credited, before it ends unpaid. A higher balance means
 * that a scan has missed a transfer, so blocks are rescanned until it is found.
 *
 * @throws ChainUnavailable
 */
export async function reconcileAddresses(
  deps: PaymentDeps,
  merchant: MerchantRef,
  view: PaymentView,
): Promise<void> {
  for (const [network, options] of Map.groupBy(view.options, (option) => option.network)) {
    const isMissing = await holdsUncredited(deps, merchant, { view, network, options });
    if (isMissing) await rescanBackwards(deps, merchant, network);
  }
}

async function holdsUncredited(
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
      // Swept coins may have left or not; `ledger verify` compares these.
      if (own.some((t) => t.sweep_id !== null)) continue;
      if (balance > own.reduce((sum, t) => sum + t.amount, 0n)) return true;
    }
  }
  return false;
}

/** Rescans up to the cursor's head; the next scan covers blocks beyond it. */
async function rescanBackwards(deps: PaymentDeps, merchant: MerchantRef, network: Network): Promise<void> {
  const { finalHeight: upTo } = await deps.chains.of(merchant, network).head();
  for (let depth = DEPTH_MIN; depth <= DEPTH_MAX; depth *= 10n) {
    const { missed } = await rescanBlocks(deps, merchant, { network, above: upTo - depth, upTo });
    if (missed > 0 || depth > upTo) return;
  }
  deps.log.error(
    { merchantId: merchant.merchantId, network },
    'an address holds coins that no scanned block explains',
  );
}
