import type { Payment, PaymentTransaction } from '@florin/sdk';
import type { Command } from 'commander';
import { type ApproverFlags, approverCommand, findToken, TOKEN_WAYS } from '../approver.ts';
import { examples } from '../examples.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { withOperator } from '../operator.ts';
import { priceOf } from '../prices.ts';
import { print, show, toJson, wantsJson } from '../show.ts';
import { formatDetails, formatTable } from '../table.ts';
import { formatUnits } from '../units.ts';

const tokens = (units: number, currency: string | null) =>
  `${formatUnits(BigInt(units))}${currency === null ? '' : ` ${currency}`}`;

const summary = (payment: Payment) => ({
  id: payment.id,
  status: payment.status,
  price: priceOf(payment),
  to_pay: payment.pay_amount === null ? null : tokens(payment.pay_amount, payment.pay_currency),
  network: payment.network,
  address: payment.address,
  received: tokens(payment.amount_received, payment.pay_currency),
  refunded: tokens(payment.amount_refunded, payment.pay_currency),
  exceptions: payment.exceptions,
  session: payment.checkout_session,
  customer: payment.customer,
  created: timeOf(payment.created),
  completed: payment.completed_at === null ? null : timeOf(payment.completed_at),
});

const transactionRow = (transaction: PaymentTransaction) => ({
  amount: tokens(transaction.amount, transaction.currency ?? 'unlisted'),
  network: transaction.network,
  kind: transaction.kind,
  status: transaction.status,
  confirmations: `${transaction.confirmations}/${transaction.required_confirmations}`,
  from: transaction.from,
  // As `accept --tx-id` and refunds name it.
  tx_id: `${transaction.tx_id}:${transaction.index}`,
});

function showPayment(command: Command, payment: Payment): void {
  if (wantsJson(command)) print(toJson(payment));
  else
    print(`${formatDetails(summary(payment))}\n\n${formatTable(payment.transactions.map(transactionRow))}`);
}

function addAccept(group: Command): void {
  const lines = [
    'florin payments accept pay_01…',
    'florin payments accept pay_01… --tx-id 0x9f…:0   # one transfer of a wrong token',
  ];
  merchantCommand(group, 'accept <payment>', lines)
    .description('Take what is held of a payment as it is: too little, or after its end')
    .option('--tx-id <id>', 'this one transfer of a wrong token alone, as <tx_id> or <tx_id>:<index>')
    .action(async (payment: string, flags: MerchantFlags & { txId?: string }, command: Command) => {
      const input = flags.txId === undefined ? {} : { tx_id: flags.txId };
      showPayment(command, await florinOf(flags).payments.accept(payment, input));
    });
}

const SEIZURE = {
  release: 'Let seized money count as if it arrived now, once a second approver says so.',
  keep: 'Take seized money from the merchant for good, once a second approver says so.',
} as const;

function addSeizureVerdict(group: Command, verb: keyof typeof SEIZURE): void {
  const lines = [`florin payments ${verb} pay_01… 0x9f…:0 --as "Ada Lovelace"`];
  approverCommand(group, `${verb} <payment> <tx-id>`, lines)
    .description(`${SEIZURE[verb]} ${TOKEN_WAYS}`)
    .action(async (payment: string, txId: string, flags: ApproverFlags, command: Command) => {
      const verdict = { payment, txId, as: flags.as, token: await findToken(flags) };
      const outcome = await withOperator(flags, (operator) => operator.payments[verb](verdict));
      show(command, outcome, ({ payment: { id, status }, ...counted }) => ({
        payment: id,
        status,
        ...counted,
      }));
    });
}

export function addPayments(program: Command): void {
  const group = program.command('payments').description('Payments: what arrived, and what is held');
  examples(group, ['florin payments show pay_01…', 'florin payments accept pay_01…']);
  merchantCommand(group, 'show <payment>', [
    'florin payments show pay_01…',
    'florin payments show cs_01… --json',
  ])
    .description('Show a payment, by its id or its session, and each transfer to its addresses')
    .action(async (payment: string, flags: MerchantFlags, command: Command) => {
      showPayment(command, await florinOf(flags).payments.retrieve(payment));
    });
  addAccept(group);
  addSeizureVerdict(group, 'release');
  addSeizureVerdict(group, 'keep');
}
