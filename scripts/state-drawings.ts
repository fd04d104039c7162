import path from 'node:path';
import { INVOICE_MOVES } from '../packages/server/src/invoices/decide/states.ts';
import { MAIL_MOVES } from '../packages/server/src/mail/states.ts';
import { METHOD_MOVES } from '../packages/server/src/payment-methods/states.ts';
import { PAYMENT_MOVES, TRANSACTION_MOVES } from '../packages/server/src/payments/states.ts';
import { BATCH_MOVES, ITEM_MOVES } from '../packages/server/src/payouts/states.ts';
import type { Moves } from '../packages/server/src/platform/db/guards/moves.ts';
import { REFUND_MOVES } from '../packages/server/src/refunds/states.ts';
import { SUBSCRIPTION_MOVES } from '../packages/server/src/subscriptions/states.ts';
import {
  ACTIVATION_MOVES,
  ATTEMPT_MOVES,
  ROTATION_MOVES,
  TRANSFER_MOVES,
} from '../packages/server/src/transfers/states.ts';
import { DELIVERY_MOVES, ENDPOINT_MOVES } from '../packages/server/src/webhooks/states.ts';
import { ROOT } from './step.ts';

/** A drawing stands between `<!-- states: NAME -->` and `<!-- /states -->`, in whichever page names it. */
const DRAWN: Readonly<Record<string, { moves: Moves<string>; first: readonly string[] }>> = {
  'payout batch': { moves: BATCH_MOVES, first: ['draft'] },
  'payout item': { moves: ITEM_MOVES, first: ['valid', 'invalid'] },
  payment: { moves: PAYMENT_MOVES, first: ['pending'] },
  deposit: { moves: TRANSACTION_MOVES, first: ['seen', 'final'] },
  refund: { moves: REFUND_MOVES, first: ['pending'] },
  subscription: { moves: SUBSCRIPTION_MOVES, first: ['incomplete'] },
  invoice: { moves: INVOICE_MOVES, first: ['open', 'paid', 'void'] },
  transfer: { moves: TRANSFER_MOVES, first: ['queued'] },
  attempt: { moves: ATTEMPT_MOVES, first: ['reserved'] },
  delivery: { moves: DELIVERY_MOVES, first: ['pending', 'paused'] },
  'webhook endpoint': { moves: ENDPOINT_MOVES, first: ['enabled'] },
  'payment method': { moves: METHOD_MOVES, first: ['active', 'inactive'] },
  activation: { moves: ACTIVATION_MOVES, first: ['open'] },
  rotation: { moves: ROTATION_MOVES, first: ['closing'] },
  mail: { moves: MAIL_MOVES, first: ['pending', 'caught'] },
};
export const PAGES = [
  'concepts',
  'payouts',
  'checkout',
  'refunds',
  'subscriptions',
  'webhooks',
  'mail',
  'signer',
].map((name) => path.join(ROOT, 'docs', `${name}.md`));
const BLOCK = /<!-- states: ([a-z ]{1,40}) -->\n[^<]*<!-- \/states -->/g;

function draw({ table }: Moves<string>, first: readonly string[]): string {
  const arrows = Object.entries(table).flatMap(([from, tos]) => [
    ...tos.map((to) => `  ${from} --> ${to}`),
    ...(tos.length === 0 ? [`  ${from} --> [*]`] : []),
  ]);
  const starts = first.map((state) => `  [*] --> ${state}`);
  return ['```mermaid', 'stateDiagram-v2', ...starts, ...arrows, '```'].join('\n');
}

/** A page with its drawings as the tables of moves have them. @throws for a name that is not known */
export function drawn(page: string): string {
  return page.replace(BLOCK, (_block, name: string) => {
    const known = DRAWN[name];
    if (known === undefined) throw new Error(`there are no states of ${name}`);
    return `<!-- states: ${name} -->\n${draw(known.moves, known.first)}\n<!-- /states -->`;
  });
}

/** The names that pages draw. */
export const namesIn = (page: string) => [...page.matchAll(BLOCK)].map(([, name = '']) => name);
export const NAMES = Object.keys(DRAWN);
