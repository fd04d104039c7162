import type { Network } from '@florin/contract/money';
import type { WatchSet } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { findAddresses, listAddresses } from './deposit-queries.ts';

/** The deposit addresses of a merchant on a network. Caches the payment of each address that a scan looked up. */
export class WatchedAddresses implements WatchSet {
  readonly #db: Db;
  readonly #merchantId: string;
  readonly #network: Network;
  readonly #owners = new Map<string, string>();

  constructor(db: Db, merchantId: string, network: Network) {
    this.#db = db;
    this.#merchantId = merchantId;
    this.#network = network;
  }

  async among(candidates: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await findAddresses(this.#db, this.#merchantId, this.#network, candidates);
    return new Set(this.#remember(found));
  }

  async all(): Promise<readonly string[]> {
    return this.#remember(await listAddresses(this.#db, this.#merchantId, this.#network));
  }

  /** The payment of an address that the scan returned. */
  ownerOf(address: string): string | undefined {
    return this.#owners.get(address);
  }

  #remember(rows: readonly { address: string; watch: string; payment_id: string }[]): string[] {
    for (const { address, payment_id: paymentId } of rows) this.#owners.set(address, paymentId);
    return rows.map(({ watch }) => watch);
  }
}
