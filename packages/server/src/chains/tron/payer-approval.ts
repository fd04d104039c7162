import { checkTrc20Address } from '../addresses/trc20.ts';
import type { ApprovalTransaction, PayerApproval } from '../payer-wallets.ts';
import { allowanceCall, approveCall, constantCall } from './contract-call.ts';
import { isTaken } from './estimates.ts';
import { buildPayerCall, type PayerContext, readUnits } from './payer-transfer.ts';

/** Of an approval to somebody new, with a margin. */
const APPROVAL_ENERGY = 50_000n;

/**
 * The transaction by which a payer's wallet lets the collector take that much. Where the token goes from one amount to another by way of 0
 * alone, it is that first.
 *
 * @returns undefined where `from` is no wallet, no wallet is charged here, or the token is not taken
 * @throws ChainUnavailable
 */
export async function buildPayerApproval(
  { network, ...context }: PayerContext,
  { from, asset, units: wanted }: PayerApproval,
): Promise<ApprovalTransaction | undefined> {
  const { collector } = network;
  const token = network.tokens[asset]?.contract;
  if (collector === null || token === undefined || !checkTrc20Address(from).ok) return undefined;
  const { node, feed } = context;
  const call = { owner: from, contract: token };
  const allowed = await readUnits(node, { ...call, data: allowanceCall(from, collector) });
  if (allowed >= wanted) return { isApproved: true };
  const { final } = await feed.snapshot();
  const fields = constantCall(from, token, approveCall(collector, wanted));
  const units = allowed > 0n && !(await isTaken(node, fields, final.height)) ? 0n : wanted;
  const built = await buildPayerCall(
    context,
    { ...call, data: approveCall(collector, units) },
    APPROVAL_ENERGY,
  );
  return 'transaction' in built ? { ...built, units } : built;
}
