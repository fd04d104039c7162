import type { Refund, RefundInput } from '@florin/sdk';
import type { Operator } from '@florin/server/operator';
import type { Command } from 'commander';
import { type ApproverFlags, approverCommand, findToken, TOKEN_WAYS } from '../approver.ts';
import { examples } from '../examples.ts';
import { wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { type DatabaseFlags, databaseCommand, withOperator } from '../operator.ts';
import { show } from '../show.ts';
import { formatUnits } from '../units.ts';

interface CreateFlags extends MerchantFlags {
  id?: string;
  amount?: string;
  currency?: string;
  address?: string;
  txId?: string;
  reason?: string;
}

const summary = (refund: Refund) => ({
  refund_id: refund.refund_id,
  status: refund.status,
  amount: `${formatUnits(BigInt(refund.amount))} ${refund.currency}`,
  network: refund.network,
  address: refund.address,
  claim_url: refund.claim_url,
  payment: refund.payment_id,
  tx_id: refund.tx_id,
  failure_reason: refund.failure_reason,
  reason: refund.reason,
  created: timeOf(refund.created),
  completed: refund.completed_at === null ? null : timeOf(refund.completed_at),
});

function inputOf(payment: string, flags: CreateFlags): RefundInput {
  const { amount, currency: code } = flags;
  const currency = code?.toUpperCase();
  if (currency !== undefined && currency !== 'USDT' && currency !== 'USDC')
    throw wrongUsage(`A refund is in USDT or USDC: not ${code}.`);
  if (amount !== undefined && currency === undefined)
    throw wrongUsage('--amount goes with --currency USDT or USDC.');
  return {
    payment_id: payment,
    ...(flags.id === undefined ? {} : { refund_id: flags.id }),
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency }),
    ...(flags.address === undefined ? {} : { address: flags.address }),
    ...(flags.txId === undefined ? {} : { tx_id: flags.txId }),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  };
}

function addCreate(group: Command): void {
  const lines = [
    'florin refunds create pay_01…                                  # all that is left; the payer names the address',
    'florin refunds create pay_01… --id A-17-r1 --amount 5.00 --currency USDT --address 0x52…',
    'florin refunds create pay_01… --tx-id 0x9f…:0                  # one transfer of a wrong token',
  ];
  merchantCommand(group, 'create <payment>', lines)
    .description('Refund a payment, or a part of it')
    .option('--id <refund>', 'your own id of the refund; makes one refund of repeats')
    .option('--amount <tokens>', 'so much instead of all that is left')
    .option('--currency <code>', 'the token of the amount')
    .option(
      '--address <address>',
      'where it goes; else the proven wallet, else the payer says it behind a link',
    )
    .option('--tx-id <id>', 'this one transfer of a wrong token, as <tx_id> or <tx_id>:<index>')
    .option('--reason <text>', 'for your own records')
    .action(async (payment: string, flags: CreateFlags, command: Command) => {
      show(command, await florinOf(flags).refunds.create(inputOf(payment, flags)), summary);
    });
}

type Waiting = Awaited<ReturnType<Operator['refunds']['awaitingApproval']>>[number];

/** What decides about a refund that waits for approval. */
const waitingRow = (refund: Waiting) => ({
  refund_id: refund.refund_id,
  merchant: refund.merchant_id,
  status: refund.status,
  amount: `${formatUnits(BigInt(refund.amount))} ${refund.currency}`,
  network: refund.network,
  address: refund.address,
  payment: refund.payment_id,
  reason: refund.reason,
  approvals_needed: refund.required_approvals,
  created: timeOf(refund.created),
});

function addVerdict(group: Command, verb: 'approve' | 'reject', description: string): void {
  const lines = [
    `florin refunds ${verb} A-17-r1 --as "Ada Lovelace"`,
    `florin refunds ${verb} A-17-r1 --merchant mer_01… --as "Ada Lovelace" --token-file ada.token`,
  ];
  approverCommand(group, `${verb} <refund>`, lines)
    .description(`${description} ${TOKEN_WAYS}`)
    .option('--merchant <id>', 'whose refund; needed where several have one of this id')
    .action(async (refund: string, flags: ApproverFlags & { merchant?: string }, command: Command) => {
      const { merchant, as } = flags;
      const decision = { refund, merchant, as, token: await findToken(flags) };
      const decided = await withOperator(flags, (operator) => operator.refunds[verb](decision));
      show(command, decided, (refund) => ({ ...waitingRow(refund), approvals: refund.approvals }));
    });
}

const LOST = {
  repay: {
    description: 'Pay a refund anew that a reorganisation took for good, once a second approver says so.',
    run: 'repay',
  },
  'give-back': {
    description:
      'Give back the money of a refund that a reorganisation took for good, once a second approver says so.',
    run: 'giveBack',
  },
} as const;

function addLostVerdict(group: Command, verb: keyof typeof LOST): void {
  const { description, run } = LOST[verb];
  approverCommand(group, `${verb} <refund>`, [`florin refunds ${verb} A-17-r1 --as "Ada Lovelace"`])
    .description(`${description} ${TOKEN_WAYS}`)
    .option('--merchant <id>', 'whose refund; needed where several have one of this id')
    .action(async (refund: string, flags: ApproverFlags & { merchant?: string }, command: Command) => {
      const { merchant, as } = flags;
      const verdict = { refund, merchant, as, token: await findToken(flags) };
      const decided = await withOperator(flags, (operator) => operator.refunds[run](verdict));
      show(command, decided, ({ refund: one, ...count }) => ({ ...count, ...summary(one) }));
    });
}

function addApproval(group: Command): void {
  addLostVerdict(group, 'repay');
  addLostVerdict(group, 'give-back');
  addVerdict(group, 'approve', 'Approve a refund that waits for it, for its amount and address.');
  addVerdict(
    group,
    'reject',
    'Reject a refund that waits for approval: it is canceled and its money given back.',
  );
  const lines = [
    'florin refunds awaiting-approval',
    'florin refunds awaiting-approval --merchant mer_01… --json',
  ];
  databaseCommand(group, 'awaiting-approval', lines)
    .description('List refunds that wait for approval, oldest first')
    .option('--merchant <id>', 'of this merchant alone')
    .action(async (flags: DatabaseFlags & { merchant?: string }, command: Command) => {
      const list = await withOperator(flags, (operator) => operator.refunds.awaitingApproval(flags.merchant));
      show(command, list, waitingRow);
    });
}

export function addRefunds(program: Command): void {
  const group = program.command('refunds').description('Money back to payers');
  examples(group, ['florin refunds create pay_01… --id A-17-r1', 'florin refunds show A-17-r1']);
  addCreate(group);
  merchantCommand(group, 'show <refund>', [
    'florin refunds show A-17-r1',
    'florin refunds show A-17-r1 --json',
  ])
    .description('Show a refund, by your own id of it')
    .action(async (refund: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).refunds.retrieve(refund), summary);
    });
  merchantCommand(group, 'cancel <refund>', ['florin refunds cancel A-17-r1'])
    .description('Cancel a refund that is pending')
    .action(async (refund: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).refunds.cancel(refund), summary);
    });
  addApproval(group);
}
