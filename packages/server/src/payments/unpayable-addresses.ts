import type { ChainRegistry } from '../chains/index.ts';
import { prepared } from '../platform/db/statements/index.ts';
import type { FindUnpayable } from '../transfers/recipients/index.ts';
import './tables.ts';

/** Finds addresses that pay nobody: those that the merchant's chain names, and every deposit address ever assigned. */
export function unpayableFinder(chains: Pick<ChainRegistry, 'unpayableAddresses'>): FindUnpayable {
  return async (db, merchant, { network, addresses }) => {
    if (addresses.length === 0) return new Set();
    const candidates = new Set(addresses);
    const named = await chains.unpayableAddresses(merchant, network);
    const { rows } = await prepared<{ address: string }>`
      select address from payment_option
      where merchant_id = ${merchant.merchantId} and network = ${network} and watch is not null
        and address = any(${[...candidates]}::text[])`.execute(db);
    return new Set([
      ...named.filter((address) => candidates.has(address)),
      ...rows.map((row) => row.address),
    ]);
  };
}
