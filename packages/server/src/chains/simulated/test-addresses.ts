import type { Network } from '@florin/contract/money';
import { walletOfLabel } from './wallet.ts';

/** Fixed recipients of the sandbox: ordinary valid addresses that the chain treats specially. */
export interface TestAddresses {
  succeed: string;
  /** Every transfer to it fails in execution. */
  fail: string;
  /** A transaction that pays it is mined only an hour after its item was first broadcast. */
  stuck: string;
  /** Ordinary for the chain; the sandbox puts it on the risk list at submit. */
  risk_rejected: string;
}

/** Seconds of the merchant's clock that a transfer to `stuck` waits. */
export const STUCK_SECONDS = 3_600;

export function testAddresses(network: Network): TestAddresses {
  const at = (label: string) => walletOfLabel(network, `test address ${label}`).address;
  return { succeed: at('succeed'), fail: at('fail'), stuck: at('stuck'), risk_rejected: at('risk_rejected') };
}

/** The source of the sandbox's money. */
export function faucetAddress(network: Network): string {
  return walletOfLabel(network, 'faucet').address;
}
