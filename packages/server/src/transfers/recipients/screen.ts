import type { Network } from '@florin/contract/money';
import { findSanctioned } from '../../chains/addresses/index.ts';
import { testAddresses } from '../../chains/index.ts';
import type { Db } from '../../platform/db/index.ts';
import type { MerchantMode } from '../../tenancy/settings/index.ts';

export interface ScreenRequest {
  network: Network;
  /** Canonical forms. */
  addresses: readonly string[];
  stage: 'creation' | 'execution';
}

/** Returns the addresses that are sanctioned, by the risk list, which is a table of this database. */
export type Screen = (db: Db, mode: MerchantMode, request: ScreenRequest) => Promise<ReadonlySet<string>>;

/** Reads the installation's risk list; for sandbox merchants also the test address that is sanctioned from submit on. */
export const screen: Screen = async (db, mode, { network, addresses, stage }) => {
  const sanctioned = new Set(await findSanctioned(db, network, [...addresses]));
  const lateOne = testAddresses(network).risk_rejected;
  if (mode === 'sandbox' && stage === 'execution' && addresses.includes(lateOne)) sanctioned.add(lateOne);
  return sanctioned;
};
