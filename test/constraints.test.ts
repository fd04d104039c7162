import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from './database.ts';

// What the code keeps true of money is held by the database too: each constraint against the row that breaks it.

let client: pg.Client;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDatabase();
  drop = () => database.drop();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await drop();
});

type Row = Record<string, unknown>;

const MERCHANT = randomUUID();
const SHARED = randomUUID();
/** A row of each table that nothing forbids, new at each call. */
const ROWS = {
  payment: () => ({
    payment_id: randomUUID(),
    store_id: randomUUID(),
    amount: 1000,
    currency: 'USD',
    status: 'pending',
    received_amount: 0,
    refunded_amount: 0,
    refunding_amount: 0,
    held_amount: 0,
    metadata: {},
    created_at: 1,
  }),
  payment_transaction: () => ({
    network: 'erc20',
    tx_id: randomUUID(),
    index: 0,
    payment_id: randomUUID(),
    currency: 'USDT',
    address: '0xto',
    sender: '0xfrom',
    amount: 10,
    kind: 'counted',
    status: 'final',
    held_amount: 0,
    refunded_amount: 0,
    refunding_amount: 0,
    height: 1,
    seen_at: 1,
    final_at: 1,
    pulled: false,
  }),
  payment_option: () => ({
    payment_id: randomUUID(),
    currency: 'USDT',
    network: 'erc20',
    address: randomUUID(),
    watch: randomUUID(),
    exchange_rate: '1',
    pay_amount: 10,
    quote_ends_at: 1,
    chosen_at: 1,
  }),
  payout_batch: () => ({
    batch_id: randomUUID(),
    store_id: randomUUID(),
    key_id: randomUUID(),
    idempotency_key: randomUUID(),
    currency: 'USDT',
    network: 'erc20',
    status: 'processing',
    total_count: 1,
    valid_count: 1,
    invalid_count: 0,
    success_count: 0,
    failed_count: 0,
    requested_amount: 10,
    total_amount: 10,
    service_fee_amount: 1,
    debit_amount: 11,
    frozen_amount: 11,
    charged_service_fee_amount: 0,
    validation_errors: [],
    required_approvals: 0,
    created_at: 1,
  }),
  payout_item: () => ({
    batch_id: randomUUID(),
    index: 0,
    item_id: randomUUID(),
    network: 'erc20',
    address: '0xto',
    amount: 10,
    service_fee_amount: 0,
    status: 'processing',
    validation_errors: [],
    created_at: 1,
  }),
  ledger_entry: () => ({
    entry_id: randomUUID(),
    journal_id: randomUUID(),
    debit: 'payout_hold',
    credit: 'custody_hold:erc20',
    currency: 'USDT',
    network: 'erc20',
    amount: 10,
    cause_type: 'payout_item',
    cause_id: randomUUID(),
    created_at: 1,
  }),
  transfer: () => ({
    transfer_id: randomUUID(),
    owner_type: 'payout_item',
    owner_id: randomUUID(),
    group_id: randomUUID(),
    place: 0,
    network: 'erc20',
    currency: 'USDT',
    address: '0xto',
    amount: 10,
    status: 'queued',
    tries: 0,
    alone: false,
    created_at: 1,
    key_ref: 'hot',
  }),
  transfer_version: () => ({
    attempt_id: randomUUID(),
    number: 0,
    network: 'erc20',
    tx_id: randomUUID(),
    raw: '0x',
    signed_at: 1,
  }),
} satisfies Record<string, () => Row>;
type Table = keyof typeof ROWS;

async function insert(table: Table, change: Row): Promise<void> {
  const row = { merchant_id: MERCHANT, ...ROWS[table](), ...change };
  // Columns that the row does not name get their defaults.
  const columns = Object.keys(row)
    .map((name) => `"${name}"`)
    .join(', ');
  await client.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`,
    [JSON.stringify(row)],
  );
}

const COMPLETED = { status: 'completed', completed_at: 1 };
const EXPIRED = { status: 'expired', received_amount: 10, refunded_amount: 2, refunding_amount: 3 };
const WRONG = { kind: 'wrong_token', held_amount: 10 };
const SEEN = { status: 'seen', final_at: null };
const ATTEMPT = { attempt_id: SHARED };
const OVER = { completed_at: 1 };
const FAILED = { status: 'failed', failure_code: 'transfer_failed' };

/** Rows that stand, and of the same table one that does not; the last of `rows` may be what it collides with. */
const CASES: [constraint: string, table: Table, rows: Row[], refused: Row[]][] = [
  [
    'payment_invoice_completed',
    'payment',
    [
      { invoice_id: SHARED, status: 'expired' },
      { invoice_id: SHARED, status: 'failed' },
      { ...COMPLETED, invoice_id: SHARED },
    ],
    [{ ...COMPLETED, invoice_id: SHARED }],
  ],
  [
    'payment_held',
    'payment',
    [
      { ...EXPIRED, held_amount: 5 },
      { ...EXPIRED, ...COMPLETED, held_amount: 0 },
    ],
    [
      { ...EXPIRED, held_amount: 4 },
      { ...EXPIRED, held_amount: 0 },
      { ...EXPIRED, ...COMPLETED, held_amount: 5 },
    ],
  ],
  [
    'payment_transaction_held',
    'payment_transaction',
    [
      WRONG,
      { ...WRONG, refunded_amount: 2, refunding_amount: 3, held_amount: 5 },
      { ...WRONG, decision: 'released' },
      { ...WRONG, decision: 'accepted', held_amount: 0 },
      { ...WRONG, ...SEEN, held_amount: 0 },
    ],
    [
      { held_amount: 10 },
      { ...WRONG, held_amount: 9 },
      { ...WRONG, decision: 'accepted' },
      { ...WRONG, ...SEEN },
    ],
  ],
  [
    'payment_transaction_refunds',
    'payment_transaction',
    [{ ...WRONG, refunding_amount: 10, held_amount: 0 }],
    [{ refunded_amount: 1 }, { kind: 'seized', refunding_amount: 1 }],
  ],
  [
    'payment_transaction_final_marks',
    'payment_transaction',
    [{ sweep_id: SHARED, swept_amount: 1 }, { lost_at: 1 }],
    [
      { ...SEEN, sweep_id: SHARED, swept_amount: 1 },
      { ...SEEN, lost_at: 1 },
      { ...SEEN, status: 'gone', lost_at: 1 },
    ],
  ],
  [
    'payment_option_watch',
    'payment_option',
    [{ watch: 'one' }, { watch: 'one', network: 'spl' }, { watch: null }, { watch: null }],
    [{ watch: 'one', currency: 'USDC' }],
  ],
  [
    'payout_batch_frozen',
    'payout_batch',
    [{}, { status: 'completed', frozen_amount: 0 }],
    [
      { status: 'completed', frozen_amount: 1 },
      { status: 'canceled', frozen_amount: 1 },
      { status: 'draft', frozen_amount: 1 },
      { frozen_amount: -1 },
    ],
  ],
  ['payout_item_fee', 'payout_item', [{ service_fee_amount: 1 }], [{ service_fee_amount: -1 }]],
  ['payout_item_id', 'payout_item', [{ item_id: SHARED }], [{ item_id: SHARED }]],
  [
    'ledger_entry_payout_item',
    'ledger_entry',
    [
      { cause_id: SHARED },
      { cause_id: SHARED, credit: 'fees' },
      { cause_id: SHARED, cause_type: 'payout_batch' },
      { cause_id: SHARED, cause_type: 'payout_batch' },
    ],
    [{ cause_id: SHARED }],
  ],
  [
    'transfer_over',
    'transfer',
    [
      { ...OVER, status: 'succeeded' },
      { ...OVER, ...FAILED },
    ],
    [{ status: 'succeeded' }, FAILED, OVER, { ...OVER, ...ATTEMPT, status: 'sending' }],
  ],
  [
    'transfer_version_transaction',
    'transfer_version',
    [{ tx_id: 'one' }, { tx_id: 'one', network: 'spl' }],
    [{ tx_id: 'one' }],
  ],
  [
    'transfer_version_pkey',
    'transfer_version',
    [ATTEMPT, { ...ATTEMPT, number: 1 }],
    [ATTEMPT, { ...ATTEMPT, number: 1 }],
  ],
  ['transfer_place_from_zero', 'transfer', [{}], [{ place: -1 }]],
  [
    'transfer_place',
    'transfer',
    [
      { group_id: SHARED, ...OVER, ...FAILED },
      { group_id: SHARED, ...OVER, status: 'succeeded', lost_at: 1 },
      { group_id: SHARED, place: 1 },
      { group_id: SHARED },
    ],
    [{ group_id: SHARED }, { group_id: SHARED, place: 1 }],
  ],
  [
    'transfer_sending',
    'transfer',
    [{}, { ...ATTEMPT, status: 'sending' }],
    [{ status: 'sending' }, ATTEMPT, { ...ATTEMPT, ...OVER, status: 'succeeded' }],
  ],
  [
    'transfer_failure',
    'transfer',
    [{ ...OVER, ...FAILED }],
    [
      { ...OVER, status: 'failed' },
      { ...OVER, status: 'succeeded', failure_code: 'transfer_failed' },
    ],
  ],
];

test.each(CASES)('I1: %s forbids what the code never writes', async (constraint, table, rows, refused) => {
  for (const row of rows) await insert(table, row);
  for (const row of refused) {
    const outcome = insert(table, row);
    await expect(outcome, JSON.stringify(row)).rejects.toMatchObject({ constraint });
  }
});
