import { networkNamed } from '@florin/contract/money';
import type { Db } from '../../platform/db/index.ts';
import { BatchLoader, READ_OVERLAP_AFTER_MS } from '../../platform/db/loaders/index.ts';
import type { Broadcast, Mandate, MandateState, SignedTx } from '../port/port.ts';
import type { BlockClock } from './block-clock.ts';
import { AFTER_EVERYTHING, type ChainRow, type ChainSnapshot, findChain } from './chain-queries.ts';
import { rememberSigned, type ToSign } from './holder.ts';
import { readMandateStates } from './mandate-states.ts';
import type { ChainId } from './tables.ts';
import { findTransactions, type TransactionRow } from './transaction-queries.ts';

/** The chain's settled row and its clock. */
export interface ChainView {
  row: ChainRow;
  clock: BlockClock;
  /** Whether there were transfers after the requested position; undefined where it was not read. */
  hasMore?: boolean;
}

/** Sends transactions; returns the node's answer to each, or a string with the reason of a missing answer. */
export type Send = (list: readonly SignedTx[]) => Promise<(Broadcast | string)[]>;

/** Broadcasts of one batch hold one lock until all are admitted. */
const BROADCASTS_MAX = 100;

const keyOf = ({ merchantId, network }: ChainId) => `${merchantId} ${network}`;

function idOf(key: string): ChainId {
  const [merchantId = '', network] = key.split(' ');
  return { merchantId, network: networkNamed(network) };
}

/** Batches concurrent calls to a chain, so that they read its tables and lock its row once. */
export class BatchedCalls {
  readonly #chains: BatchLoader<undefined, ChainSnapshot | undefined>;
  readonly #settled: BatchLoader<() => Promise<ChainView>, ChainView>;
  readonly #transactions: BatchLoader<string, TransactionRow | undefined>;
  readonly #mandates: BatchLoader<readonly Mandate[], MandateState[]>;
  readonly #signatures: BatchLoader<ToSign, SignedTx | string>;
  readonly #broadcasts: BatchLoader<{ signed: SignedTx; send: Send }, Broadcast | string>;

  constructor(db: Db) {
    const overlapAfterMs = READ_OVERLAP_AFTER_MS;
    this.#chains = new BatchLoader({
      overlapAfterMs,
      loadBatch: async (key, requests) => {
        const row = await findChain(db, idOf(key), AFTER_EVERYTHING);
        return requests.map(() => row);
      },
    });
    this.#settled = new BatchLoader({
      overlapAfterMs,
      loadBatch: async (_key, [first, ...others]) => {
        if (first === undefined) return [];
        const view = await first();
        return [first, ...others].map(() => view);
      },
    });
    this.#transactions = new BatchLoader({
      overlapAfterMs,
      loadBatch: async (key, txIds) => {
        const rows = await findTransactions(db, idOf(key), txIds);
        return txIds.map((txId) => rows.get(txId));
      },
    });
    this.#mandates = new BatchLoader({
      overlapAfterMs,
      loadBatch: async (key, lists) => {
        const height = BigInt(key.split(' ')[2] ?? '0');
        const states = await readMandateStates(db, idOf(key), lists.flat(), height);
        return lists.map((list) => states.splice(0, list.length));
      },
    });
    this.#signatures = new BatchLoader({
      overlapAfterMs,
      loadBatch: (key, list) => rememberSigned(db, idOf(key), list),
    });
    this.#broadcasts = new BatchLoader({
      overlapAfterMs,
      maxBatch: BROADCASTS_MAX,
      loadBatch: async (_key, [first, ...others]) =>
        first === undefined ? [] : await first.send([first, ...others].map(({ signed }) => signed)),
    });
  }

  findChain(id: ChainId): Promise<ChainSnapshot | undefined> {
    return this.#chains.load(keyOf(id), undefined);
  }

  /** @param settle any concurrent caller's, as all are for the same chain */
  settled(id: ChainId, settle: () => Promise<ChainView>): Promise<ChainView> {
    return this.#settled.load(keyOf(id), settle);
  }

  findTransaction(id: ChainId, txId: string): Promise<TransactionRow | undefined> {
    return this.#transactions.load(keyOf(id), txId);
  }

  mandateStates(id: ChainId, mandates: readonly Mandate[], height: bigint): Promise<MandateState[]> {
    return this.#mandates.load(`${keyOf(id)} ${height}`, mandates);
  }

  /** @returns the transaction that the holder signed; a string is the reason of a refusal */
  sign(id: ChainId, one: ToSign): Promise<SignedTx | string> {
    return this.#signatures.load(keyOf(id), one);
  }

  /** @param send any concurrent caller's, as all are for the same chain */
  broadcast(id: ChainId, signed: SignedTx, send: Send): Promise<Broadcast | string> {
    return this.#broadcasts.load(keyOf(id), { signed, send });
  }
}
