import type { Network } from '@florin/contract/money';
import type { Db } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import type { MerchantMode } from '../tenancy/index.ts';
import { checkRecipient, OWN_ADDRESS } from '../transfers/index.ts';
import type { RefundDeps } from './deps.ts';

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'address' });

export interface AddressQuestion {
  merchant: { merchantId: string; mode: MerchantMode };
  network: Network;
  address: string;
  allowProgramOwned: boolean;
}

/** Judges an address as that of a payout item. @throws Fail `invalid_request` with param `address` */
export async function checkRefundAddress(
  db: Db,
  { screen, findOwnAddresses }: Pick<RefundDeps, 'screen' | 'findOwnAddresses'>,
  question: AddressQuestion,
): Promise<void> {
  const { merchant, network, address } = question;
  const { canonical, fault } = checkRecipient(network, address, question);
  if (fault !== undefined) throw refuse(`${fault} It has to be one on ${network}.`);
  const addresses = [canonical];
  const listed = await screen(db, merchant.mode, { network, addresses, moment: 'creation' });
  if (listed.has(canonical)) throw refuse('The address is on the risk list.');
  const own = await findOwnAddresses(db, merchant, { network, addresses });
  if (own.has(canonical)) throw refuse(OWN_ADDRESS);
}

/** The canonical wallet that somebody has proved, where it is one on this network: each has a form of its own. */
export function provenWallet(network: Network, wallet: string | null): string | null {
  if (wallet === null) return null;
  const { canonical, fault } = checkRecipient(network, wallet, { allowProgramOwned: true });
  return fault === undefined ? canonical : null;
}
