import type { App } from '../app.ts';
import { openAccount } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { Fail } from '../platform/fail.ts';

/**
 * Opens a live merchant's account on Ethereum, and the installation's own before the first one. Repeated after an
 * interruption it goes on where it was.
 *
 * @returns false where this installation has no network with real money
 * @throws Fail `service_unavailable` while the signer or the network is away
 */
export async function openLiveAccount({ db, live, clock }: App, merchantId: string): Promise<boolean> {
  if (live === undefined) return false;
  const { ethereum, accounts } = live;
  try {
    for (const owner of [NIL_ID, merchantId])
      await openAccount(db, { merchantId: owner, network: 'erc20' }, ethereum, clock.nowSeconds());
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const message = `The merchant has no account yet: ${error.message}. Run florin networks enable once this is mended.`;
    throw new Fail('service_unavailable', { message, cause: error });
  }
  await accounts.load();
  return true;
}
