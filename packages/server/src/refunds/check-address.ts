import type { Network } from '@florin/contract/money';
import type { Db } from '../platform/db.ts';
import { Fail } from '../platform/fail.ts';
import type { MerchantMode } from '../platform/settings.ts';
import { checkRecipient } from '../transfers/index.ts';
import type { RefundDeps } from './deps.ts';

const refuse = (message: string) => new Fail('invalid_request', { message, param: 'address' });

export interface AddressQuestion {
  mode: MerchantMode;
  network: Network;
  address: string;
  allowProgramOwned: boolean;
}

/** Judges an address as that of a payout item. @throws Fail `invalid_request` with param `address` */
export async function checkRefundAddress(
  db: Db,
  { screen }: Pick<RefundDeps, 'screen'>,
  question: AddressQuestion,
): Promise<void> {
  const { mode, network, address } = question;
  const { canonical, fault } = checkRecipient(network, address, question);
  if (fault !== undefined) throw refuse(`${fault} It has to be one on ${network}.`);
  const listed = await screen(db, mode, { network, addresses: [canonical], moment: 'creation' });
  if (listed.has(canonical)) throw refuse('The address is on the risk list.');
}

/** The wallet that the payer has proved, where it is one on this network: each has a form of its own. */
export function provenWallet(network: Network, wallet: string | null): string | null {
  if (wallet === null) return null;
  return checkRecipient(network, wallet, { allowProgramOwned: true }).fault === undefined ? wallet : null;
}
