import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { type Accounts, type OpenedLive, openAccount, ownerFault } from '../chains/index.ts';
import { ChainUnavailable } from '../chains/port/index.ts';
import { orderFill } from '../payments/deposits/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { transact } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { Platform } from '../platform/platform.ts';

export interface LiveAccountDeps extends Pick<Platform, 'db' | 'clock'> {
  /** Undefined where live money does not move. */
  live: { ethereum: OpenedLive['ethereum']; chains: OpenedLive; accounts: Accounts } | undefined;
}

/**
 * Opens a live merchant's account on a network, and the installation's own before the first one. Repeated after an
 * interruption it goes on where it was.
 *
 * @returns false where this installation does not have that network for live merchants
 * @throws Fail `service_unavailable` while the signer or the network is away
 */
export async function openLiveAccount(
  deps: LiveAccountDeps,
  merchantId: string,
  network: Network = 'erc20',
): Promise<boolean> {
  const { db, live, clock } = deps;
  const source = live?.chains.sourceOf(network);
  if (live === undefined || source === undefined) return false;
  const { accounts } = live;
  try {
    for (const owner of [NIL_ID, merchantId])
      await openAccount(db, { merchantId: owner, network }, source, clock.nowSeconds());
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const message = `The merchant has no account yet: ${error.message}. Run florin networks enable once this is mended.`;
    throw new Fail('service_unavailable', { message, cause: error });
  }
  await accounts.load();
  if (network === 'erc20') await takeColdOwner(deps, merchantId);
  await openPools(deps, merchantId, network);
  return true;
}

/** Where the signer names addresses, the first ones are named before anybody wants one. */
async function openPools(
  { db, live, clock }: LiveAccountDeps,
  merchantId: string,
  network: Network,
): Promise<void> {
  const account = live?.accounts.find(merchantId, network);
  if (account === undefined || live?.chains.of(account)?.nameAddresses === undefined) return;
  await transact(db, (tx) => orderFill(tx, { merchantId, network }, clock.nowMs()));
}

/**
 * Takes the owner of a merchant's account at the collector over from the signer's policy: the id of that account follows from it,
 * and mandates name the id, so it is fixed by the first of them.
 *
 * @throws Fail `conflict` where the policy names another one afterwards
 */
async function takeColdOwner({ db, live }: LiveAccountDeps, merchantId: string): Promise<void> {
  const account = live?.accounts.find(merchantId, 'erc20');
  if (live === undefined || account === undefined) return;
  const signers = await live.ethereum.readAccount(account.account).catch(whileAway);
  if (signers === undefined || signers.coldOwner === account.coldOwner) return;
  const { coldOwner } = signers;
  await transact(db, async (tx) => {
    await sql`select from chain_account where merchant_id = ${merchantId} and network = 'erc20' for update`.execute(
      tx,
    );
    const { rows } = await sql`
      select from payment_method where merchant_id = ${merchantId} and network = 'erc20' limit 1`.execute(tx);
    if (rows.length > 0) throw new Fail('conflict', ownerFault(account, coldOwner));
    await sql`
      update chain_account set cold_owner = ${coldOwner}
      where merchant_id = ${merchantId} and network = 'erc20'`.execute(tx);
  });
  await live.accounts.load();
}

/** What is charged for is compared again, each time. */
function whileAway(error: unknown): undefined {
  if (!(error instanceof ChainUnavailable)) throw error;
}
