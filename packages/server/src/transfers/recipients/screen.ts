import type { Network } from '@florin/contract/money';
import { isListed } from '../../chains/addresses/index.ts';
import { testAddresses } from '../../chains/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';

export interface ScreenRequest {
  network: Network;
  /** Canonical forms. */
  addresses: readonly string[];
  moment: 'creation' | 'submit';
}

/** Returns the addresses that are listed. Where it rejects the answer is unknown, and the caller must refuse. */
export type Screen = (db: Db, mode: MerchantMode, request: ScreenRequest) => Promise<ReadonlySet<string>>;

/** Reads the installation's risk list; for sandbox merchants also the test address that is listed from submit on. */
export const screen: Screen = async (db, mode, { network, addresses, moment }) => {
  const listed = new Set(await isListed(db, network, [...addresses]));
  const lateOne = testAddresses(network).risk_rejected;
  if (mode === 'sandbox' && moment === 'submit' && addresses.includes(lateOne)) listed.add(lateOne);
  return listed;
};
