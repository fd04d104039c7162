import type { PaymentMethod, PaymentMethodChangeInput } from '@florin/contract/schemas';
import { getPaymentMethod, type PaymentMethodDeps, presentPaymentMethod } from '../payment-methods/index.ts';
import { changeSandboxWallet, readWallet } from '../payment-methods/mandates/index.ts';
import type { Caller } from '../platform/http/index.ts';
import { reachChain } from './reach-chain.ts';

const unitsOf = (amount: number | undefined) => (amount === undefined ? undefined : BigInt(amount));

/**
 * Changes the simulated wallet behind a payment method, and reads all methods of that wallet at once unless it is to stay
 * unnoticed.
 *
 * @throws Fail `resource_not_found`
 */
export async function changeWallet(
  deps: PaymentMethodDeps,
  caller: Caller,
  id: string,
  { balance, allowance, revoked, unnoticed }: PaymentMethodChangeInput,
): Promise<PaymentMethod> {
  const method = await getPaymentMethod(deps.db, caller.merchantId, id);
  const chain = deps.chains.sandbox(caller.merchantId, method.network);
  const change = { balance: unitsOf(balance), allowance: unitsOf(allowance), revoked };
  await reachChain(() => changeSandboxWallet(chain, method, change));
  if (!unnoticed) await readWallet(deps, caller, method);
  return presentPaymentMethod(await getPaymentMethod(deps.db, caller.merchantId, id));
}
