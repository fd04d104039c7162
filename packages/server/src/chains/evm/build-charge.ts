import { encodeFunctionData, type Hex } from 'viem';
import type { ChargeSpec, ChargeTerms } from '../port/port.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { plainCall } from './build-transfer.ts';
import { COLLECTOR_ABI } from './contracts.ts';
import { gasLimit } from './gas.ts';
import { collectorIdOf, collectorOf, isWithin, knownTerms, type MandateHolder } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { Call } from './transaction.ts';

/** What the database keeps. */
const AMOUNT_MAX = 2n ** 63n - 1n;
/** The collector counts windows in 32 bits. */
const TIME_MAX = 2 ** 32 - 1;

export interface BuiltCharge {
  call: Call;
  purpose: AskedPurpose;
}

/** @throws UnbuildableTransfer */
export function buildChargeCall(network: EvmNetwork, holder: MandateHolder, spec: ChargeSpec): BuiltCharge {
  const { mandate, chargeId, amount } = spec;
  const data = chargeData(network, holder, spec);
  const gas = gasLimit({ kind: 'charge' }, network.feeCeilings.gasPerTransaction);
  const { payer, asset } = mandate;
  return {
    call: plainCall(collectorOf(network), data, gas),
    purpose: { kind: 'charge', id: chargeId, asset, payer, amount: String(amount) },
  };
}

/** @throws UnbuildableTransfer */
export function chargeData(network: EvmNetwork, holder: MandateHolder, spec: ChargeTerms): Hex {
  const { mandate, chargeId, subscriptionId, amount, windowStart, windowEnd } = spec;
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`charge ${chargeId}: ${why}`);
  };
  const terms = knownTerms(network, holder, mandate);
  if (amount <= 0n || amount > AMOUNT_MAX) refuse('amount out of range');
  for (const time of [windowStart, windowEnd])
    if (!isWithin(time, 0, TIME_MAX)) refuse('window out of range');
  const charge = {
    id: collectorIdOf(chargeId),
    subscription: collectorIdOf(subscriptionId),
    amount,
    windowStart,
    windowEnd,
  };
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'charge', args: [terms, charge] });
}
