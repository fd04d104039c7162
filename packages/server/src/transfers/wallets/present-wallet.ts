import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import type { Chain, KeyRef } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Merchant } from '../../stores/index.ts';
import type { AttemptRow } from '../queries.ts';
import '../tables.ts';

/** This process's view of the chain has a hot wallet that another has taken the place of. */
export class WalletRotated extends Error {
  readonly network: Network;

  constructor(network: Network) {
    super(`${network}: the hot wallet was rotated, and this process had not noticed`);
    this.network = network;
  }
}

/** The hot wallet is closed to new work: another is about to take its place. */
export class WalletClosing extends Error {
  readonly network: Network;

  constructor(network: Network) {
    super(`${network}: the hot wallet is being rotated`);
    this.network = network;
  }
}

interface Sending {
  merchant: Pick<Merchant, 'merchantId' | 'mode'>;
  chain: Chain;
}

/**
 * Checks, under a lock that a rotation waits for, that a new transaction is made for the present hot wallet. Called first in each
 * transaction that reserves one.
 *
 * @param isAlreadySent what is sent already needs it: it may while the wallet is closing
 * @throws WalletRotated, WalletClosing
 */
export async function assertPresentWallet(
  tx: Tx,
  { merchant, chain }: Sending,
  isAlreadySent = false,
): Promise<void> {
  await assertNoticed(tx, { merchant, chain }, sql`for share`);
  if (isAlreadySent || merchant.mode === 'sandbox') return;
  const { network } = chain;
  if (await isClosing(tx, { merchant_id: merchant.merchantId, network })) throw new WalletClosing(network);
}

/**
 * Checks that this process knows the present hot wallet, before it signs what another may have reserved. Call it after the attempts
 * were read: what had been reserved before a rotation was over by then, so what is open is for the wallet that is known here.
 *
 * @throws WalletRotated
 */
export async function assertNoticed(db: Db, { merchant, chain }: Sending, lock = sql``): Promise<void> {
  // Wallets of the simulated chains are not rotated.
  if (merchant.mode === 'sandbox') return;
  const { network } = chain;
  const { rows } = await sql<{ epoch: number }>`
    select epoch from chain_account where merchant_id = ${merchant.merchantId} and network = ${network} ${lock}`.execute(
    db,
  );
  const epoch = rows[0]?.epoch ?? 0;
  if ((await chain.hotWallets()).length !== epoch + 1) throw new WalletRotated(network);
}

/** Whether a rotation waits until nothing of the merchant is on its way. */
export async function isClosing(
  tx: Tx,
  { merchant_id, network }: Pick<AttemptRow, 'merchant_id' | 'network'>,
): Promise<boolean> {
  const { rows } = await sql`
    select from wallet_rotation
    where merchant_id = ${merchant_id} and network = ${network} and status = 'closing'`.execute(tx);
  return rows.length > 0;
}

/**
 * The key by which the chain knows the wallet of an attempt: a hot wallet may have been rotated since.
 *
 * @throws WalletRotated where the chain does not know it yet
 */
export async function keyOfSender(
  chain: Chain,
  { key_ref: keyRef, sender, network }: Pick<AttemptRow, 'key_ref' | 'sender' | 'network'>,
): Promise<KeyRef> {
  if (keyRef !== 'hot') return keyRef;
  const wallets = await chain.hotWallets();
  const epoch = wallets.indexOf(sender);
  if (epoch < 0) throw new WalletRotated(network);
  return epoch === wallets.length - 1 ? 'hot' : `hot:${epoch}`;
}

/** Whether an attempt brings coins of a rotated wallet to one that another has taken the place of since. */
export async function isOutdatedMove(
  db: Db,
  chain: Chain,
  { movement, merchant_id, group_id }: Pick<AttemptRow, 'movement' | 'merchant_id' | 'group_id'>,
): Promise<boolean> {
  if (movement?.kind !== 'move') return false;
  const { rows } = await sql<{ epoch: number }>`
    select epoch from wallet_rotation where merchant_id = ${merchant_id} and rotation_id = ${group_id}`.execute(
    db,
  );
  const epoch = rows[0]?.epoch;
  return epoch !== undefined && epoch < (await chain.hotWallets()).length - 1;
}
