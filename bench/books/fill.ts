import { execute } from '../database.ts';

/** Entries that a unit of a history books, on average. */
export const ENTRIES_PER_UNIT = 9.5;
/** Deposits that lie at addresses of their own; the chain is asked about each. */
const ADDRESSES = 1_000;
const ITEMS_PER_UNIT = 3;
const UNITS_PER_BATCH = 34;
const AT = 1_760_000_000;
const TOKEN = 1_000_000;
/** What comes by a charge and by a deposit of each unit, what an item pays out, and what a refund gives back. */
const IN = 20 * TOKEN;
const OUT = 4 * TOKEN;
const FEE = TOKEN / 100;
const BACK = TOKEN;

/** A UUID of version 7 whose time is the unit's number, as ids and times have one order; one for each use in a unit. */
const id = (use: number, n = 'n') =>
  `(lpad(to_hex(${n}), 12, '0') || '7${String(use).padStart(3, '0')}8' || substr(md5((${n})::text), 1, 15))::uuid`;

/**
 * Writes the books of a merchant as years would: each unit is a subscription's invoice paid by a charge, a deposit, three
 * payout items and, every second time, a refund. The ledger holds what these book, and the hot wallet all coins.
 */
export async function fillBooks(
  url: string,
  { merchantId, wallet }: { merchantId: string; wallet: string },
  units: number,
): Promise<void> {
  const m = `'${merchantId}'::uuid`;
  const each = `generate_series(1, ${units}::bigint) as n`;
  const items = `${each}, generate_series(0, ${ITEMS_PER_UNIT - 1}) as j`;
  const item = id(10, `n * ${ITEMS_PER_UNIT} + j`);
  const batch = id(20, `(n - 1) / ${UNITS_PER_BATCH} + 1`);
  const store = id(1, '1::bigint');
  await execute(
    url,
    ...payments({ m, each, store, wallet }),
    `insert into payout_item (merchant_id, batch_id, index, item_id, network, address, amount, service_fee_amount, status,
       validation_errors, tx_id, created_at, completed_at)
     select ${m}, ${batch}, ((n - 1) % ${UNITS_PER_BATCH}) * ${ITEMS_PER_UNIT} + j, ${item}, 'erc20', 'to', ${OUT}, ${FEE},
       'succeeded', '[]', 'batch' || n, ${AT}, ${AT} from ${items}`,
    `insert into payout_batch (merchant_id, batch_id, store_id, key_id, idempotency_key, currency, network, status,
       total_count, valid_count, invalid_count, success_count, requested_amount, total_amount, service_fee_amount,
       debit_amount, charged_service_fee_amount, validation_errors, created_at, submitted_at, completed_at)
     select ${m}, batch_id, ${store}, ${store}, batch_id::text, 'USDT', 'erc20', 'completed', count(*), count(*), 0, count(*),
       sum(amount), sum(amount), sum(service_fee_amount), sum(amount + service_fee_amount), sum(service_fee_amount), '[]',
       ${AT}, ${AT}, ${AT}
     from payout_item where merchant_id = ${m} group by batch_id`,
    ...transfers({ m, each, items, item, batch, wallet }),
    ...entries({ m, each, items, item }),
    `insert into ledger_account (merchant_id, account, currency, balance)
     select ${m}, account, 'USDT', sum(case when account like 'custody%' then amount else -amount end)
     from (select debit as account, amount from ledger_entry where merchant_id = ${m}
       union all select credit, -amount from ledger_entry where merchant_id = ${m}) as side
     group by account`,
    `insert into simchain.account (merchant_id, network, address, currency, balance)
     select ${m}, 'erc20', '${wallet}', 'USDT', sum(balance) from ledger_account
     where merchant_id = ${m} and account like 'custody%'`,
    'vacuum (analyze)',
    'checkpoint',
  );
}

interface Place {
  m: string;
  each: string;
}

function payments({ m, each, store, wallet }: Place & { store: string; wallet: string }): string[] {
  const subscription = id(2);
  const hasRefund = 'n % 2 = 0';
  return [
    `insert into payment (merchant_id, payment_id, store_id, session_id, invoice_id, amount, currency, status, fixed_currency,
       fixed_network, received_amount, refunded_amount, completed_at, created_at)
     select ${m}, ${id(3)}, ${store}, null::uuid, ${id(5)}, 2000, 'USD', 'completed', 'USDT', 'erc20', ${IN}, 0, ${AT}, ${AT}
     from ${each}
     union all
     select ${m}, ${id(4)}, ${store}, ${id(4)}, null, ${IN}, 'USDT', 'completed', 'USDT', 'erc20', ${IN},
       case when ${hasRefund} then ${BACK} else 0 end, ${AT}, ${AT} from ${each}`,
    `insert into payment_option (merchant_id, payment_id, currency, network, address, watch, exchange_rate, pay_amount,
       quote_ends_at, chosen_at)
     select ${m}, ${id(3)}, 'USDT', 'erc20', '${wallet}', null, '1', ${IN}, ${AT}, ${AT} from ${each}
     union all
     select ${m}, ${id(4)}, 'USDT', 'erc20', 'address' || n, case when n <= ${ADDRESSES} then 'address' || n end, '1', ${IN},
       ${AT}, ${AT} from ${each}`,
    `insert into payment_transaction (merchant_id, network, tx_id, index, payment_id, currency, address, sender, amount, kind,
       status, height, seen_at, final_at, sweep_id, swept_amount, pulled)
     select ${m}, 'erc20', 'charge' || n, 0, ${id(3)}, 'USDT', '${wallet}', 'payer', ${IN}, 'counted', 'final', 0, ${AT}, ${AT},
       null::uuid, 0, true from ${each}
     union all
     select ${m}, 'erc20', 'deposit' || n, 0, ${id(4)}, 'USDT', 'address' || n, 'payer', ${IN}, 'counted', 'final', 1, ${AT},
       ${AT}, ${id(6)}, ${IN}, false from ${each}`,
    `insert into sweep_part (merchant_id, sweep_id, network, tx_id, index, amount)
     select ${m}, ${id(6)}, 'erc20', 'deposit' || n, 0, ${IN} from ${each}`,
    `insert into invoice (merchant_id, invoice_id, store_id, subscription_id, customer_id, customer, amount_due, currency,
       status, payment_status, billing_reason, interval, period_start, period_end, charge_payment_id, due_date, paid_at,
       created_at)
     select ${m}, ${id(5)}, ${store}, ${subscription}, ${store}, 'customer', 2000, 'USD', 'paid', 'completed',
       'subscription_cycle', 'month', ${AT}, ${AT} + 1, ${id(3)}, ${AT}, ${AT}, ${AT} from ${each}`,
    `insert into refund (merchant_id, refund_id, own_id, store_id, payment_id, currency, network, amount, address, status,
       tx_id, day, created_at, completed_at)
     select ${m}, ${id(7)}, 'refund-' || n, ${store}, ${id(4)}, 'USDT', 'erc20', ${BACK}, 'to', 'succeeded', 'refund' || n, 1,
       ${AT}, ${AT} from ${each} where ${hasRefund}`,
  ];
}

function transfers({
  m,
  each,
  items,
  item,
  batch,
  wallet,
}: Place & { items: string; item: string; batch: string; wallet: string }): string[] {
  const columns = `transfer (merchant_id, transfer_id, owner_type, owner_id, group_id, network, currency, address, amount,
    status, tx_id, created_at, completed_at, charge)`;
  const over = `'succeeded'`;
  return [
    `insert into ${columns} select ${m}, ${item}, 'payout_item', ${item}, ${batch}, 'erc20', 'USDT', 'to', ${OUT}, ${over},
       'batch' || n, ${AT}, ${AT}, null from ${items}`,
    `insert into ${columns} select ${m}, ${id(3)}, 'charge', ${id(3)}, ${id(3)}, 'erc20', 'USDT', 'payer', ${IN}, ${over},
       'charge' || n, ${AT}, ${AT}, '{}' from ${each}`,
    `insert into ${columns} select ${m}, ${id(6)}, 'sweep', ${id(6)}, ${id(6)}, 'erc20', 'USDT', '${wallet}', ${IN}, ${over},
       'sweep' || n, ${AT}, ${AT}, null from ${each}`,
    `insert into ${columns} select ${m}, ${id(7)}, 'refund', ${id(7)}, ${id(7)}, 'erc20', 'USDT', 'to', ${BACK}, ${over},
       'refund' || n, ${AT}, ${AT}, null from ${each} where n % 2 = 0`,
  ];
}

function entries({ m, each, items, item }: Place & { items: string; item: string }): string[] {
  const book = (use: number, [debit, credit]: [string, string], amount: string | number, rest: string) =>
    `insert into ledger_entry (merchant_id, entry_id, journal_id, debit, credit, currency, network, amount, cause_type,
       cause_id, created_at)
     select ${m}, ${id(use, rest.includes('as j') ? `n * ${ITEMS_PER_UNIT} + j` : 'n')}, ${id(use)}, '${debit}', '${credit}',
       'USDT', 'erc20', ${amount}, ${rest}`;
  const [coins, hold] = ['custody:erc20', 'custody_hold:erc20'] as const;
  return [
    book(30, [coins, 'available'], IN, `'payment', ${id(3)}, ${AT} from ${each}`),
    book(31, [coins, 'available'], IN, `'payment', ${id(4)}, ${AT} from ${each}`),
    book(32, ['payout_hold', hold], OUT, `'payout_item', ${item}, ${AT} from ${items}`),
    book(33, ['payout_hold', 'fees'], FEE, `'payout_item', ${item}, ${AT} from ${items}`),
    book(34, ['available', 'refund_hold'], BACK, `'refund', ${id(7)}, ${AT} from ${each} where n % 2 = 0`),
    book(35, [hold, coins], BACK, `'refund', ${id(7)}, ${AT} from ${each} where n % 2 = 0`),
    book(36, ['refund_hold', hold], BACK, `'refund', ${id(7)}, ${AT} from ${each} where n % 2 = 0`),
    ...[
      { use: 37, sides: `'available', 'payout_hold'`, amount: 'debit_amount' },
      { use: 38, sides: `'${hold}', '${coins}'`, amount: 'requested_amount' },
    ].map(
      ({ use, sides, amount }) =>
        `insert into ledger_entry (merchant_id, entry_id, journal_id, debit, credit, currency, network, amount, cause_type,
           cause_id, created_at)
         select ${m}, ${id(use)}, ${id(use)}, ${sides}, 'USDT', 'erc20', ${amount}, 'payout_batch', batch_id, ${AT}
         from (select *, row_number() over () as n from payout_batch where merchant_id = ${m}) as b`,
    ),
  ];
}
