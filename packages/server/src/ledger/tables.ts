import type { Asset, Network } from '@florin/contract/money';
import type { Account } from './accounts.ts';
import type { CauseType } from './causes.ts';

/** Append-only tables: the service's database role may not update or delete their rows. */
export const APPEND_ONLY_TABLES = ['ledger_entry'] as const;

declare module '../platform/db/db.ts' {
  interface Tables {
    ledger_account: {
      merchant_id: string;
      account: Account;
      currency: Asset;
      balance: bigint;
      floor: bigint;
    };
    ledger_entry: {
      merchant_id: string;
      entry_id: string;
      journal_id: string;
      debit: Account;
      credit: Account;
      currency: Asset;
      network: Network | null;
      amount: bigint;
      cause_type: CauseType;
      cause_id: string;
      created_at: bigint | number;
    };
  }
}
