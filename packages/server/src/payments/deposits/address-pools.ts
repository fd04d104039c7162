import type { Network } from '@florin/contract/money';
import { sql } from 'kysely';
import { addToPool, findPooled, openPool, type PoolPlace, readPool } from '../../chains/pool/index.ts';
import type { Chain } from '../../chains/port/index.ts';
import { AddressPoolEmpty, ChainUnavailable, type DepositAddress } from '../../chains/port/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { enqueue, type Job, type JobOutcome, type JobRun, type JobSpec } from '../../platform/jobs/index.ts';
import { getMerchant } from '../../stores/index.ts';
import type { PaymentDeps } from '../deps.ts';
import { nextAddressIndex } from './deposit-queries.ts';
import { networkOf } from './jobs.ts';

// On networks where no public key derives addresses the holder of the keys names them ahead. A payment takes the next one that is stored; a
// job names more long before none is left, as the holder may be away for hours.

/** Has addresses named; payload `{ network }`. */
export const FILL_POOL_JOB = 'payments.fill-pool';

/** Fewer that are left than these are filled up. */
const REFILL_BELOW = 500n;
/** Fewer are an alarm: the holder of the keys has not answered for long. */
const LOW_BELOW = 100n;
const NAMED_AT_ONCE = 200;
const AGAIN_MS = 10_000;

function fillJob({ merchantId, network }: PoolPlace, dueAtMs: number): JobSpec {
  return { merchantId, kind: FILL_POOL_JOB, uniqueKey: network, dueAtMs, payload: { network } };
}

/** Has the pool of a merchant filled now. */
export async function orderFill(tx: Tx, place: PoolPlace, nowMs: number): Promise<void> {
  await openPool(tx, place);
  await enqueue(tx, [fillJob(place, nowMs)]);
}

interface Taken extends DepositAddress {
  index: bigint;
}

/**
 * The next address of a merchant, which no payment had before. No node and no holder of keys is called, as the transaction holds the row of
 * the next number.
 *
 * @throws AddressPoolEmpty, whose number the next payment takes
 */
export async function takeAddress(
  tx: Tx,
  chain: Pick<Chain, 'network' | 'depositAddress' | 'nameAddresses'>,
  merchantId: string,
  now: { seconds: number; realMs: number },
): Promise<Taken> {
  const place = { merchantId, network: chain.network };
  const index = await nextAddressIndex(tx, place, now.seconds);
  if (chain.nameAddresses === undefined)
    return { index, ...(await chain.depositAddress({ index: Number(index) })) };
  const { address, filledTo } = await findPooled(tx, place, index);
  if (address === undefined) throw new AddressPoolEmpty(chain.network);
  if (filledTo - index - 1n < REFILL_BELOW) await enqueue(tx, [fillJob(place, now.realMs)]);
  return { index, ...address };
}

/** Handles `FILL_POOL_JOB`. */
export async function fillPool(deps: PaymentDeps, job: Job, run: JobRun): Promise<JobOutcome> {
  const { db, chains, log, clock } = deps;
  const merchant = await getMerchant(db, job.merchantId);
  const place = { merchantId: job.merchantId, network: networkOf(job) };
  const chain = chains.of(merchant, place.network);
  for (;;) {
    const from = await readPool(db, place);
    const left = from - (await readNextIndex(db, place));
    if (chain.nameAddresses === undefined || left >= REFILL_BELOW) return 'done';
    run.signal.throwIfAborted();
    try {
      const addresses = await chain.nameAddresses({ from: Number(from), count: NAMED_AT_ONCE });
      await run.step((tx) => addToPool(tx, place, { from, addresses }));
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const fields = { ...place, left: String(left), err: error };
      if (left < LOW_BELOW)
        log.error(
          { event: 'deposit_addresses_low', ...fields },
          'few deposit addresses are left, and the signer names none: without any nobody can pay on this network',
        );
      else log.warn(fields, 'the signer names no deposit addresses for now');
      return { againAtMs: clock.nowMs() + AGAIN_MS };
    }
  }
}

async function readNextIndex(db: Db, { merchantId, network }: PoolPlace): Promise<bigint> {
  const row = await db
    .selectFrom('deposit_cursor')
    .select('next_address_index')
    .where('merchant_id', '=', merchantId)
    .where('network', '=', network)
    .executeTakeFirst();
  return row?.next_address_index ?? 0n;
}

export interface PoolState {
  network: Network;
  /** Addresses that are left to the merchant with the fewest. */
  left: bigint;
  /** The merchant with the fewest. */
  merchantId: string;
  isLow: boolean;
}

/** Of each network with pools, the emptiest one. */
export async function listPools(db: Db): Promise<PoolState[]> {
  const { rows } = await sql<{ network: Network; merchant_id: string; filled_left: bigint }>`
    select distinct on (network) p.network, p.merchant_id, p.filled_to - coalesce(c.next_address_index, 0) as filled_left
    from deposit_pool p
    left join deposit_cursor c on c.merchant_id = p.merchant_id and c.network = p.network
    order by network, filled_left, merchant_id`.execute(db);
  return rows.map(({ network, merchant_id: merchantId, filled_left: left }) => ({
    network,
    left,
    merchantId,
    isLow: left < LOW_BELOW,
  }));
}
