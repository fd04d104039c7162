import { chargeData } from '../collector/mandates.ts';
import type { MandateHolder } from '../collector/site.ts';
import type { ChargeSpec } from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { plainCall } from './build-transfer.ts';
import { gasLimit } from './gas.ts';
import { collectorOf, siteOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { Call } from './transaction.ts';

export interface BuiltCharge {
  call: Call;
  purpose: AskedPurpose;
}

/** @throws UnbuildableTransfer */
export function buildChargeCall(network: EvmNetwork, holder: MandateHolder, spec: ChargeSpec): BuiltCharge {
  const { mandate, chargeId, amount } = spec;
  const data = chargeData(siteOf(network), holder, spec);
  const gas = gasLimit({ kind: 'charge' }, network.feeCeilings.gasPerTransaction);
  const { payer, asset } = mandate;
  return {
    call: plainCall(collectorOf(network), data, gas),
    purpose: { kind: 'charge', id: chargeId, asset, payer, amount: String(amount) },
  };
}
