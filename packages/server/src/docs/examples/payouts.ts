import type { ApprovalInput, PayoutBatchInput, PayoutItemInput } from '@florin/contract/schemas';
import type { Example, Examples } from './example.ts';
import { IDS } from './ids.ts';

const ADA = {
  real_name: 'Ada',
  network: 'trc20',
  address: 'TVXsiBDkXoBLtZg9g2UCUjeXa1Cn66LL5E',
  amount: '120.50',
} as const satisfies PayoutItemInput;
const BROOK = {
  real_name: 'Brook',
  network: 'trc20',
  address: 'TUJ54qcVaviPG54ZoMG3g2q5gaE35a6CSW',
  amount: '85.00',
} as const satisfies PayoutItemInput;
const batch = {
  currency: 'USDT',
  description: 'Salaries, November',
  items: [ADA, BROOK],
} as const satisfies PayoutBatchInput;

const BATCH = { call: 'createPayoutBatch' };
const ITEMS = [BATCH, { call: 'listPayoutItems' }];

/** Of an approver's key that nobody has. */
export const APPROVAL: ApprovalInput = {
  approver: 'payroll',
  valid_until: 1_796_083_200,
  signature: `0x${'5f'.repeat(64)}`,
};
export const NO_SIGNER = 'it has no signer, so approvers decide there by token';

const onBatch = (sdk: string): Example => ({ sdk, given: [BATCH] });
const onItem = (example: Example): Example => ({ ...example, given: ITEMS });

export const PAYOUT_EXAMPLES: Examples = {
  createPayoutBatch: { sdk: 'payouts.create', body: batch, makes: { [IDS.batch]: 'batch_id' } },
  listPayoutBatches: { sdk: 'payouts.list', given: [BATCH] },
  retrievePayoutBatch: onBatch('payouts.retrieve'),
  submitPayoutBatch: onBatch('payouts.submit'),
  cancelPayoutBatch: onBatch('payouts.cancel'),
  retrievePayoutBatchStatement: onBatch('payouts.statement'),
  approvePayoutBatch: {
    ...onBatch('payouts.approve'),
    body: APPROVAL,
    refusedBySandbox: NO_SIGNER,
  },
  listPayoutItems: { ...onBatch('payouts.items'), makes: { [IDS.item]: 'data.0.item_id' } },
  retrievePayoutItem: onItem({ sdk: 'payouts.item' }),
  updatePayoutItem: onItem({ sdk: 'payouts.updateItem', body: { ...ADA, amount: '99.90' } }),
  deletePayoutItem: onItem({ sdk: 'payouts.deleteItem' }),
  retrieveBalances: { sdk: 'balances.retrieve' },
  listLedgerEntries: { sdk: 'ledgerEntries.list', given: [{ call: 'fundSandbox' }] },
};
