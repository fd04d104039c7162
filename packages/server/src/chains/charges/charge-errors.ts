import { UnbuildableTransfer } from '../port/port-errors.ts';
import type { ChargeFault } from '../port/port-mandates.ts';

/**
 * What is configured does not charge by this mandate: its collector, delegate, wallet or token is not the one that the payer approved, or
 * there is none. The order waits until the earlier one is configured again; the payer did nothing wrong.
 */
export class UnservedMandate extends UnbuildableTransfer {}

/** The signer signs this charge never: its payer has not signed for it, as it is. Nothing was signed. */
export class ChargeRefused extends Error {
  readonly fault: ChargeFault;

  constructor(fault: ChargeFault, detail: string) {
    super(detail);
    this.fault = fault;
  }
}
