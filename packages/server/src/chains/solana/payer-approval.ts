import { tokenAccountOf } from '@florin/signer/solana';
import { checkSplAddress } from '../addresses/spl.ts';
import type { ApprovalTransaction, LostApproval, PayerApproval } from '../payer-wallets.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { DECIMALS } from './build-payment.ts';
import { computeUnits } from './fees.ts';
import { buildForPayer, type PayerContext } from './payer-transfer.ts';
import { type Allowing, readAllowing } from './token-accounts.ts';

/**
 * The transaction by which a payer's wallet lets the delegate take that much. It can be sent for about a minute.
 *
 * @returns undefined where `from` is no wallet, or the token is not taken here
 * @throws ChainUnavailable
 */
export async function buildPayerApproval(
  context: PayerContext,
  delegate: string,
  { from, asset, units: amount, added }: PayerApproval,
): Promise<ApprovalTransaction | undefined> {
  const mint = context.network.tokens[asset]?.mint;
  if (mint === undefined || !checkSplAddress(from).ok) return undefined;
  const source = tokenAccountOf(from, mint);
  const account = await readAccount(context, { from, mint });
  if (account === undefined) return { short: 'token', held: 0n };
  const allowed = account.delegate === delegate ? account.delegated : 0n;
  if (allowed >= amount) return { isApproved: true };
  const together = allowed + added;
  if (amount !== (together < AMOUNT_MAX ? together : AMOUNT_MAX)) return { isChanged: true };
  const steps = [
    { kind: 'approve', source, mint, delegate, owner: from, amount, decimals: DECIMALS },
  ] as const;
  // An approval uses less than a transfer.
  const units = computeUnits({ memoBytes: [], created: 0, transfers: 1 });
  const built = await buildForPayer(context, { from, steps, units, changed: [source], created: 0 });
  return 'transaction' in built ? { ...built, units: amount } : built;
}

/** Why the delegate can take nothing of a wallet; null: it can. @throws ChainUnavailable */
export async function readLostApproval(
  context: PayerContext,
  delegate: string,
  { from, asset }: Pick<PayerApproval, 'from' | 'asset'>,
): Promise<LostApproval | null> {
  const mint = context.network.tokens[asset]?.mint;
  if (mint === undefined || !checkSplAddress(from).ok) return null;
  const account = await readAccount(context, { from, mint });
  if (account === undefined) return 'closed';
  if (account.delegate === null) return 'none';
  return account.delegate === delegate ? null : 'other_delegate';
}

async function readAccount(
  { node, feed }: PayerContext,
  { from: owner, mint }: { from: string; mint: string },
): Promise<Allowing | undefined> {
  const account = tokenAccountOf(owner, mint);
  const { slot: minSlot } = (await feed.heads()).tip;
  const accounts = [{ account, owner, mint }];
  const reads = { commitment: 'confirmed', minSlot, endpoints: 'one' } as const;
  return (await readAllowing(node, { accounts, ...reads })).found.get(account);
}
