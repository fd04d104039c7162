import type { ChainRegistry } from '../chains/index.ts';
import { prepared } from '../platform/db/statements/index.ts';
import type { FindOwnAddresses } from '../transfers/recipients/index.ts';
import './tables.ts';

/**
 * Finds which of the given addresses belong to the merchant: its wallets on the network, and every deposit address ever
 * assigned.
 */
export function ownAddressFinder(chains: Pick<ChainRegistry, 'unpayableAddresses'>): FindOwnAddresses {
  return async (db, merchant, { network, addresses }) => {
    if (addresses.length === 0) return new Set();
    const candidates = new Set(addresses);
    const wallets = await chains.unpayableAddresses(merchant, network);
    const { rows } = await prepared<{ address: string }>`
      select address from payment_option
      where merchant_id = ${merchant.merchantId} and network = ${network} and watch is not null
        and address = any(${[...candidates]}::text[])`.execute(db);
    return new Set([
      ...wallets.filter((wallet) => candidates.has(wallet)),
      ...rows.map((row) => row.address),
    ]);
  };
}
