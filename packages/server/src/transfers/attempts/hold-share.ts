import { sql } from 'kysely';
import { type PaidByTank, SigningBlocked } from '../../chains/port/index.ts';
import type { AttemptRow } from '../queries.ts';
import type { SendContext } from '../send-context.ts';
import { tankOf } from '../wallets/prepare-wallet.ts';
import { readTankSpending } from '../wallets/tank-budget.ts';
import { lockWallet } from '../wallets/wallet-queries.ts';
import { RESERVED_SECONDS } from './movements.ts';
import { tankWait } from './paid-by-tank.ts';

// Reserving compares the fee with the tank's balance, under the tank's lock. A reserved attempt counts for `RESERVED_SECONDS`, so one batch
// that waits for people blocks no other. Before it is signed later it reserves its share again: of all that were approved at once, no more
// are signed than the tank can pay.

/** `ready` may be signed; `blocked`: others wait until somebody fills the tank. */
interface Shares {
  ready: readonly AttemptRow[];
  blocked: SigningBlocked | undefined;
}

const isLapsed = ({ fee_payer: tank, share_at: sharedAt, created_at: createdAt }: AttemptRow, now: number) =>
  tank !== null && Number(sharedAt ?? createdAt) <= now - RESERVED_SECONDS;

/** At most: with as many new accounts as it has items, whatever it is. */
const costOf = ({ item_ids: items }: AttemptRow, { fee, opening }: PaidByTank): bigint =>
  fee + opening * BigInt(items.length);

/** @param reserved attempts that are to be signed now @throws ChainUnavailable */
export async function holdShare(context: SendContext, reserved: readonly AttemptRow[]): Promise<Shares> {
  const { chain, run, nowSeconds } = context;
  const lapsed = reserved.filter((attempt) => isLapsed(attempt, nowSeconds));
  const [first] = lapsed;
  if (first === undefined) return { ready: reserved, blocked: undefined };
  const precheck = await chain.precheck({ kind: 'sweeps', asset: first.currency, transactions: [] });
  if (precheck === null || precheck.paidByTank === null) return { ready: reserved, blocked: undefined };
  const { paidByTank } = precheck;
  const { native } = precheck.tank;
  const tank = tankOf(chain.network, precheck);
  return await run.step(async (tx): Promise<Shares> => {
    await lockWallet(tx, tank);
    let spending = await readTankSpending(tx, chain, { tank, precheck, nowSeconds });
    let isLow = false;
    const taken = lapsed.filter((attempt) => {
      const cost = costOf(attempt, paidByTank);
      const why = tankWait(cost, { native, spending });
      isLow ||= why === 'tank_low';
      if (why === undefined) spending += cost;
      return why === undefined;
    });
    const ids = taken.map(({ attempt_id: id }) => id);
    await sql`
      update transfer_attempt set share_at = ${nowSeconds}
      where merchant_id = ${first.merchant_id} and attempt_id = any(${ids}::uuid[]) and status = 'reserved'`.execute(
      tx,
    );
    const detail = `the gas tank ${tank.sender} holds ${native} for what waits to be signed`;
    return {
      ready: reserved.filter((attempt) => taken.includes(attempt) || !lapsed.includes(attempt)),
      blocked: isLow ? new SigningBlocked(chain.network, 'tank', detail) : undefined,
    };
  });
}
