import type { Network } from '@florin/contract/money';
import type { Db } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import { checkRecipient, UNPAYABLE } from '../transfers/recipients/index.ts';
import type { RefundDeps } from './deps.ts';

const invalidAddress = (message: string) => new Fail('invalid_request', { message, param: 'address' });

export interface AddressCheck {
  merchant: { merchantId: string; mode: MerchantMode };
  network: Network;
  address: string;
  allowProgramOwned: boolean;
}

/** Checks an address by the rules of payout items. @throws Fail `invalid_request` with param `address` */
export async function checkRefundAddress(
  db: Db,
  { screen, findUnpayable }: Pick<RefundDeps, 'screen' | 'findUnpayable'>,
  check: AddressCheck,
): Promise<void> {
  const { merchant, network, address } = check;
  const { canonical, fault } = checkRecipient(network, address, check);
  if (fault !== undefined) throw invalidAddress(`${fault} The refund needs an address on ${network}.`);
  const addresses = [canonical];
  const sanctioned = await screen(db, merchant.mode, { network, addresses, stage: 'creation' });
  if (sanctioned.has(canonical)) throw invalidAddress('The address is on the risk list.');
  const unpayable = await findUnpayable(db, merchant, { network, addresses });
  if (unpayable.has(canonical)) throw invalidAddress(UNPAYABLE);
}

/** The proven wallet in canonical form; null if it is no address of this network. */
export function provenWallet(network: Network, wallet: string | null): string | null {
  if (wallet === null) return null;
  const { canonical, fault } = checkRecipient(network, wallet, { allowProgramOwned: true });
  return fault === undefined ? canonical : null;
}
