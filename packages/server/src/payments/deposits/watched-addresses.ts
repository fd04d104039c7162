import type { Network } from '@florin/contract/money';
import type { WatchSet } from '../../chains/port/index.ts';
import type { Db } from '../../platform/db/index.ts';
import { findAddresses, listAddresses, listDueAddresses } from './deposit-queries.ts';
import type { Turn } from './turns.ts';

/** The deposit addresses of a merchant on a network. Caches the payment of each address that a scan looked up. */
export class WatchedAddresses implements WatchSet {
  readonly #db: Db;
  readonly #merchantId: string;
  readonly #network: Network;
  readonly #turn: Turn | undefined;
  readonly #owners = new Map<string, string>();
  #isPart = false;

  /** @param turn where addresses are asked for one by one, those whose turn it is; all without it */
  constructor(db: Db, { merchantId, network }: { merchantId: string; network: Network }, turn?: Turn) {
    this.#db = db;
    this.#merchantId = merchantId;
    this.#network = network;
    this.#turn = turn;
  }

  async among(candidates: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await findAddresses(this.#db, this.#merchantId, this.#network, candidates);
    return new Set(this.#remember(found));
  }

  async each(): Promise<readonly string[]> {
    const turn = this.#turn;
    if (turn === undefined)
      return this.#remember(await listAddresses(this.#db, this.#merchantId, this.#network));
    this.#isPart = true;
    const on = { merchantId: this.#merchantId, network: this.#network };
    return this.#remember(await listDueAddresses(this.#db, on, turn));
  }

  /** Whether what was found says that nothing else has come to the addresses of this payment. */
  covers(paymentId: string): boolean {
    return !this.#isPart || new Set(this.#owners.values()).has(paymentId);
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
