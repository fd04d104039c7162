import type { Network } from '@florin/contract/money';
import { getSession } from '../packages/server/src/checkout/index.ts';
import { chooseOption } from '../packages/server/src/payments/choose-option.ts';
import { checkout } from './checkout/requests.ts';
import type { TestMerchant, TestService } from './service.ts';

/** A payer chooses the network: an address of the merchant is given out. */
export async function giveOut(
  service: TestService,
  merchant: TestMerchant,
  network: Network,
): Promise<string> {
  const { id } = await checkout(service, merchant).open();
  const session = await getSession(service.app.db, merchant, id);
  const who = { merchantId: merchant.merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const { options } = await chooseOption(service.app, who, session, { currency: 'USDT', network });
  return options[0]?.address ?? '';
}

/** Addresses of a merchant that nobody may be paid at for it, in every spelling that the network takes. */
export async function ownAddresses(
  service: TestService,
  merchant: TestMerchant,
  network: Network,
): Promise<string[]> {
  const chain = service.app.chains.sandbox(merchant.merchantId, network);
  const wallets = [await chain.hotAddress(), ...(await chain.unpayableAddresses())];
  const own = [...new Set([...wallets, await giveOut(service, merchant, network)])];
  return network === 'erc20' ? [...own, ...own.map((address) => address.toLowerCase())] : own;
}
