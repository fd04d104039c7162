import type { CheckoutSession, CheckoutSessionInput } from '@florin/sdk';
import type { Command } from 'commander';
import { parseDuration } from '../duration.ts';
import { examples } from '../examples.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { priceOf, readPrice } from '../prices.ts';
import { show } from '../show.ts';

interface CreateFlags extends MerchantFlags {
  orderId?: string;
  description?: string;
  customer?: string;
  email?: string;
  successUrl?: string;
  cancelUrl?: string;
  expiresIn?: number;
  idempotencyKey?: string;
}

const summary = (session: CheckoutSession) => ({
  id: session.id,
  status: session.status,
  price: priceOf(session),
  url: session.url,
  payment: session.payment_id,
  order: session.order_id,
  description: session.description,
  customer: session.customer,
  expires: session.expires_at === null ? null : timeOf(session.expires_at),
  created: timeOf(session.created),
});

function inputOf(amount: string, currency: string, flags: CreateFlags): CheckoutSessionInput {
  const fields = {
    order_id: flags.orderId,
    description: flags.description,
    customer: flags.customer,
    customer_email: flags.email,
    success_url: flags.successUrl,
    cancel_url: flags.cancelUrl,
    expires_in: flags.expiresIn,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...readPrice(amount, currency), ...Object.fromEntries(given) };
}

function addCreate(group: Command): void {
  const lines = [
    'florin checkout create 19.99 USD --order-id A-17',
    'florin checkout create 12.50 USDT --success-url https://shop.example/thanks --json',
  ];
  merchantCommand(group, 'create <amount> <currency>', lines)
    .description('Create a payment session; its url is the page for the payer')
    .option('--order-id <id>', 'your own reference')
    .option('--description <text>', 'shown to the payer')
    .option('--customer <id>', 'your own id of the customer')
    .option('--email <address>', "the customer's")
    .option('--success-url <url>', 'where the payer may go after paying')
    .option('--cancel-url <url>', 'where the payer may go without paying')
    .option('--expires-in <time>', 'from 5m to 24h (default 30m)', parseDuration)
    .option('--idempotency-key <key>', 'makes one session of repeats')
    .action(async (amount: string, currency: string, flags: CreateFlags, command: Command) => {
      const { idempotencyKey } = flags;
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      const input = inputOf(amount, currency, flags);
      show(command, await florinOf(flags).checkout.sessions.create(input, options), summary);
    });
}

export function addCheckout(program: Command): void {
  const group = program.command('checkout').description('Payment sessions: a price and a page to pay it on');
  examples(group, ['florin checkout create 19.99 USD --order-id A-17', 'florin checkout show cs_01…']);
  addCreate(group);
  merchantCommand(group, 'show <session>', ['florin checkout show cs_01…'])
    .description('Show a payment session')
    .action(async (session: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).checkout.sessions.retrieve(session), summary);
    });
  merchantCommand(group, 'cancel <session>', ['florin checkout cancel cs_01…'])
    .description('End an open session; money that comes afterwards is held')
    .action(async (session: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).checkout.sessions.cancel(session), summary);
    });
}
