import type { Asset, Network } from '@florin/contract/money';
import type { ColumnType } from 'kysely';

/** int8: written as either, read as bigint. */
type Int8 = ColumnType<bigint, bigint | number, bigint | number>;
type Int8OrZero = ColumnType<bigint, bigint | number | undefined, bigint | number>;

interface ChainKey {
  merchant_id: string;
  network: Network;
}

interface ChainTable extends ChainKey {
  genesis_at: Int8;
  height_offset: Int8OrZero;
  settled_height: Int8;
  settled_at: Int8;
  next_arrival: Int8OrZero;
  next_transfer: Int8OrZero;
  outage_until: Int8OrZero;
  drop_next: ColumnType<number, number | undefined, number>;
  faults: ColumnType<string[], string[] | undefined, string[]>;
  lag_blocks: Int8OrZero;
  forks: ColumnType<number, number | undefined, number>;
  fee_floor: Int8OrZero;
  signing_held: ColumnType<string | null, string | null | undefined, string | null>;
}

interface TransactionTable extends ChainKey {
  tx_id: string;
  origin: 'wallet' | 'foreign';
  state: 'mempool' | 'included' | 'gone';
  sender: string;
  sequence: bigint | null;
  raw: string | null;
  fee: Int8OrZero;
  arrival: Int8;
  not_before: Int8OrZero;
  height: bigint | null;
  /** One digit an item: 1 moved, 0 did not, 2 was paid before. */
  item_ok: string | null;
  reason: string | null;
}

interface TransferTable extends ChainKey {
  number: Int8;
  tx_id: string;
  index: number;
  item_id: string | null;
  batch_id: string | null;
  place: number | null;
  currency: Asset | null;
  token: string | null;
  sender: string;
  recipient: string;
  amount: Int8;
  height: Int8;
  block_time: Int8OrZero;
  mandate_id: string | null;
  subscription_id: string | null;
  window_start: bigint | null;
  window_end: bigint | null;
  from_account: ColumnType<boolean, boolean | undefined, boolean>;
}

interface PermissionTable extends ChainKey {
  number: Int8;
  tx_id: string;
  kind: 'approve' | 'activate' | 'revoke';
  owner: string;
  currency: Asset;
  spender: string | null;
  amount: bigint | null;
  mandate_id: string | null;
  height: Int8;
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    'simchain.chain': ChainTable;
    'simchain.transaction': TransactionTable;
    'simchain.transfer': TransferTable;
    'simchain.permission': PermissionTable;
    'simchain.account': ChainKey & { address: string; currency: Asset; balance: Int8 };
    'simchain.sender': ChainKey & { address: string; next_sequence: Int8 };
    'simchain.fork': ChainKey & { number: number; kept_height: Int8 };
    'simchain.holder': { merchant_id: string; history: string; generation: Int8 };
    'simchain.stuck_item': ChainKey & { sender: string; item_id: string; first_seen_at: Int8 };
  }
}

/** The key of a chain: every statement begins with it. */
export interface ChainId {
  merchantId: string;
  network: Network;
}
