import type { Network } from '@florin/contract/money';
import { type Chain, ChainUnavailable, type SignedTx, type TxStatus } from '../chains/index.ts';
import type { Tx } from '../platform/db.ts';
import type { MerchantMode } from '../platform/settings.ts';
import { transact } from '../platform/transact.ts';
import { isGone, listFinal, listOwners, markFinalAgain, markGone } from './final-queries.ts';
import { stopNetwork } from './network-stops.ts';
import { type AttemptRow, signedOf } from './queries.ts';
import type { TransferDeps } from './work.ts';

const IN_A_BLOCK = new Set(['included', 'final']);

/** @returns what the chain says of a transaction that has not paid after all; asked twice, as one answer may be a slip */
async function statusIfGone(chain: Chain, signed: SignedTx): Promise<TxStatus | undefined> {
  if (IN_A_BLOCK.has((await chain.status(signed)).state)) return undefined;
  const status = await chain.status(signed);
  return IN_A_BLOCK.has(status.state) ? undefined : status;
}

export interface Rechecked {
  /** Transactions in those blocks, as they were known before. */
  known: number;
  /** Owners of transfers that failed for good when their bytes came to the chain again. */
  failedOwners: string[];
}

/** Who books what becomes of a charge after it was final, in the transaction that notes it; a call names its owner. */
export interface ChargeBooks {
  /** @returns false for one that is not credited yet: it is looked at again once it is */
  lose(tx: Tx, ownerId: string): Promise<boolean>;
  regain(tx: Tx, ownerId: string): Promise<void>;
}

/**
 * Asks the chain once more about what it called final in its newest final blocks. A payment that is gone from there was
 * made and is not: the network stops, and the same bytes are sent again, which pays it once or never.
 *
 * @throws ChainUnavailable
 */
export async function recheckFinal(
  deps: Pick<TransferDeps, 'db' | 'chains' | 'log'>,
  merchant: { merchantId: string; mode: MerchantMode },
  place: { network: Network; above: bigint; upTo: bigint; nowSeconds: number },
  books: ChargeBooks,
): Promise<Rechecked> {
  const { network, nowSeconds } = place;
  const chain = deps.chains.of(merchant, network);
  const attempts = await listFinal(deps.db, merchant.merchantId, place);
  const failed: string[] = [];
  for (const { attempt, signed, status } of await askAll(chain, attempts)) {
    if (status === undefined) {
      if (isGone(attempt)) await noteIfFinal(deps, { chain, books }, attempt);
      continue;
    }
    const isNews = await transact(deps.db, async (tx) => {
      const charged = await listOwners(tx, merchant.merchantId, attempt.item_ids, 'charges');
      for (const ownerId of charged) if (!isGone(attempt) && !(await books.lose(tx, ownerId))) return false;
      // Once: a network that a person has resumed does not stop again for the same transaction.
      if (!(await markGone(tx, attempt))) return false;
      const reason = `a transaction that was final is in no block: ${signed.txId}`;
      await stopNetwork(tx, merchant, network, { reason, nowSeconds });
      return true;
    });
    const fields = { merchantId: merchant.merchantId, network, tx_id: signed.txId, height: attempt.height };
    if (isNews)
      deps.log.error(fields, 'a transaction that was final is gone: sending stops, its bytes are sent again');
    if (status.state === 'failed' && status.final) failed.push(...attempt.item_ids);
    else await sendAgain(chain, signed);
  }
  return { known: attempts.length, failedOwners: await listOwners(deps.db, merchant.merchantId, failed) };
}

/** Asks about some at once, as nearly all of them are where they were. */
async function askAll(chain: Chain, attempts: readonly AttemptRow[]) {
  const asked: { attempt: AttemptRow; signed: SignedTx; status: TxStatus | undefined }[] = [];
  const { callsAtOnce } = chain.caps;
  for (let i = 0; i < attempts.length; i += callsAtOnce) {
    const some = attempts.slice(i, i + callsAtOnce).map(async (attempt) => {
      const signed = signedOf(attempt);
      return { attempt, signed, status: await statusIfGone(chain, signed) };
    });
    asked.push(...(await Promise.all(some)));
  }
  return asked;
}

/** What was sent again and is final once more is as if it had never been gone. */
async function noteIfFinal(
  { db }: Pick<TransferDeps, 'db'>,
  { chain, books }: { chain: Chain; books: ChargeBooks },
  attempt: AttemptRow,
): Promise<void> {
  const { state, height } = await chain.status(signedOf(attempt));
  if (state !== 'final' || height === undefined) return;
  await transact(db, async (tx) => {
    await markFinalAgain(tx, attempt, height);
    const charged = await listOwners(tx, attempt.merchant_id, attempt.item_ids, 'charges');
    for (const ownerId of charged) await books.regain(tx, ownerId);
  });
}

async function sendAgain(chain: Chain, signed: SignedTx): Promise<void> {
  try {
    await chain.broadcast(signed);
  } catch (error) {
    // Tried again with the next look.
    if (!(error instanceof ChainUnavailable)) throw error;
  }
}
