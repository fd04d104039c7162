import { merchantTime } from '../../tenancy/index.ts';
import type { MerchantRef, PaymentMethodDeps } from '../deps.ts';
import type { PaymentMethodRow } from '../queries.ts';
import { problemOf } from '../states.ts';

/** What a wallet can pay of what falls due next, by its last reading. Amounts in units of its token. */
export interface WalletHealth {
  balance: bigint;
  allowance: bigint;
  /** Most of each period. */
  cap: bigint;
  /** The oldest open invoice, or else the next one; null: nothing is charged by it, or no rate is known. */
  due: bigint | null;
  /** Why that charge would fail; null: it should succeed. */
  problem: NonNullable<ReturnType<typeof problemOf>> | null;
  /** The merchant's clock, Unix seconds. */
  readAt: number;
}

/** @example (await walletHealth(deps, merchant, row)).problem // 'insufficient_balance' */
export async function walletHealth(
  deps: Pick<PaymentMethodDeps, 'db' | 'clock' | 'chargeNeeds'>,
  merchant: MerchantRef & { merchantId: string },
  row: PaymentMethodRow,
): Promise<WalletHealth> {
  const { balance, allowance, cap_amount: cap, status, ends_at: endsAt } = row;
  const due = (await deps.chargeNeeds(deps.db, merchant, [row])).get(row.payment_method_id) ?? null;
  const isEnded = endsAt !== null && merchantTime(deps, merchant).seconds >= Number(endsAt);
  const reading =
    status === 'unknown' ? 'unavailable' : { balance, allowance, isRevoked: status === 'revoked', isEnded };
  const problem = problemOf(reading, due ?? 0n, cap) ?? null;
  return { balance, allowance, cap, due, problem, readAt: Number(row.read_at) };
}
