import type { Network } from '@florin/contract/money';
import type { Db } from '../../platform/db.ts';
import { Gather, READ_PATIENCE_MS } from '../../platform/gather.ts';
import type { Broadcast, Mandate, MandateState, SignedTx } from '../port.ts';
import type { BlockClock } from './block-clock.ts';
import { type ChainRow, type ChainSight, findChain, NOWHERE } from './chain-queries.ts';
import { rememberSigned, type ToSign } from './holder.ts';
import { readMandateStates } from './mandate-states.ts';
import type { ChainId } from './tables.ts';
import { findTransactions, type TransactionRow } from './transaction-queries.ts';

/** The chain's row as settled, and what its clock says. */
export interface ChainView {
  row: ChainRow;
  clock: BlockClock;
  /** Whether anything lay behind the place that was asked for as the row was read; undefined: it may. */
  hasMore?: boolean;
}

/** What a node says to each of some transactions; a text: nothing, for that reason. */
export type Send = (list: readonly SignedTx[]) => Promise<(Broadcast | string)[]>;

/** Broadcasts of one load stand under one lock, for as long as they take. */
const BROADCASTS_MAX = 100;

const keyOf = ({ merchantId, network }: ChainId) => `${merchantId} ${network}`;

function idOf(key: string): ChainId {
  const [merchantId = '', network] = key.split(' ');
  return { merchantId, network: network as Network };
}

/** Calls that come to a chain at the same time: they read its tables, and lock its row, once for all of them. */
export class Gathers {
  readonly #chains: Gather<undefined, ChainSight | undefined>;
  readonly #settled: Gather<() => Promise<ChainView>, ChainView>;
  readonly #transactions: Gather<string, TransactionRow | undefined>;
  readonly #mandates: Gather<readonly Mandate[], MandateState[]>;
  readonly #signatures: Gather<ToSign, SignedTx | string>;
  readonly #broadcasts: Gather<{ signed: SignedTx; send: Send }, Broadcast | string>;

  constructor(db: Db) {
    const patienceMs = READ_PATIENCE_MS;
    this.#chains = new Gather({
      patienceMs,
      load: async (key, asks) => {
        const row = await findChain(db, idOf(key), NOWHERE);
        return asks.map(() => row);
      },
    });
    this.#settled = new Gather({
      patienceMs,
      load: async (_key, [first, ...others]) => {
        if (first === undefined) return [];
        const view = await first();
        return [first, ...others].map(() => view);
      },
    });
    this.#transactions = new Gather({
      patienceMs,
      load: async (key, txIds) => {
        const rows = await findTransactions(db, idOf(key), txIds);
        return txIds.map((txId) => rows.get(txId));
      },
    });
    this.#mandates = new Gather({
      patienceMs,
      load: async (key, lists) => {
        const height = BigInt(key.split(' ')[2] ?? '0');
        const states = await readMandateStates(db, idOf(key), lists.flat(), height);
        return lists.map((list) => states.splice(0, list.length));
      },
    });
    this.#signatures = new Gather({ patienceMs, load: (key, list) => rememberSigned(db, idOf(key), list) });
    this.#broadcasts = new Gather({
      patienceMs,
      most: BROADCASTS_MAX,
      load: async (_key, [first, ...others]) =>
        first === undefined ? [] : await first.send([first, ...others].map(({ signed }) => signed)),
    });
  }

  findChain(id: ChainId): Promise<ChainSight | undefined> {
    return this.#chains.ask(keyOf(id), undefined);
  }

  /** @param settle by any of those who ask: they are the same chain's */
  settled(id: ChainId, settle: () => Promise<ChainView>): Promise<ChainView> {
    return this.#settled.ask(keyOf(id), settle);
  }

  findTransaction(id: ChainId, txId: string): Promise<TransactionRow | undefined> {
    return this.#transactions.ask(keyOf(id), txId);
  }

  mandateStates(id: ChainId, mandates: readonly Mandate[], height: bigint): Promise<MandateState[]> {
    return this.#mandates.ask(`${keyOf(id)} ${height}`, mandates);
  }

  /** @returns what the wallet's holder gives out; a text: nothing, for that reason */
  sign(id: ChainId, one: ToSign): Promise<SignedTx | string> {
    return this.#signatures.ask(keyOf(id), one);
  }

  /** @param send of any of those who ask: they are the same chain's */
  broadcast(id: ChainId, signed: SignedTx, send: Send): Promise<Broadcast | string> {
    return this.#broadcasts.ask(keyOf(id), { signed, send });
  }
}
