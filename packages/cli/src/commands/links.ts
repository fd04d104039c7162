import { writeFileSync } from 'node:fs';
import type { PaymentLink, PaymentLinkInput } from '@florin/sdk';
import type { Command } from 'commander';
import { renderSVG, renderUnicodeCompact } from 'uqr';
import { columnsOf } from '../columns.ts';
import { attempt, wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand } from '../merchant.ts';
import { merchant } from '../operations.ts';
import { flag, text } from '../options.ts';
import { priceOf, readCurrency, readPrice } from '../prices.ts';
import { resource } from '../resource.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

/** Blank modules around a code, which readers need. */
const QUIET_ZONE = 4;

const summary = columnsOf<PaymentLink>()('id active price url description created', {
  price: ({ amount, currency }) => (amount === null ? `open, ${currency}` : priceOf({ amount, currency })),
});

interface CreateWords {
  amount_or_currency: string;
  currency?: string;
  open?: true;
  description?: string;
}

/** `19.99 USD`, or `USD --open`. */
function inputOf({ amount_or_currency: first, currency, open, ...rest }: CreateWords): PaymentLinkInput {
  if (open && currency === undefined) return { open, currency: readCurrency(first), ...rest };
  if (!open && currency !== undefined) return { ...readPrice(first, currency), ...rest };
  throw wrongUsage('Give an amount and a currency (19.99 USD), or a currency and --open (USD --open).');
}

const writeSvg = (file: string, url: string) =>
  attempt('svg', 'The file cannot be written', () =>
    writeFileSync(file, renderSVG(url, { ecc: 'M', border: QUIET_ZONE })),
  );

function addQr(group: Command): void {
  const lines = ['florin links qr plink_01…', 'florin links qr plink_01… --svg counter.svg'];
  merchantCommand(group, 'qr <link>', lines)
    .description('Show the QR code of a link in the terminal, or write it to a file to print')
    .option('--svg <file>', 'write it there as an SVG')
    .action(async (id: string, flags: MerchantFlags & { svg?: string }, command: Command) => {
      const { url, active } = await florinOf(flags).paymentLinks.retrieve(id);
      if (flags.svg !== undefined) writeSvg(flags.svg, url);
      if (wantsJson(command)) return print(toJson({ id, url, svg: flags.svg ?? null }));
      // Light modules are printed, so that the code reads right on the dark ground that most terminals have.
      if (flags.svg === undefined) print(renderUnicodeCompact(url, { ecc: 'M', border: QUIET_ZONE }));
      print(url);
      if (!active) note('This link is closed: nobody can pay through it.');
    });
}

const operation = merchant(summary);

export const addLinks = resource({
  name: 'links',
  description: 'Payment links: pages that anybody may pay through',
  examples: ['florin links create 19.99 USD', 'florin links qr plink_01… --svg counter.svg'],
  operations: [
    operation(
      'create <amount-or-currency> [currency]',
      'Create a link that anybody may pay through, as often as they like',
      {
        examples: [
          'florin links create 19.99 USD --description "One coffee"',
          'florin links create USD --open   # the payer says how much',
        ],
        options: {
          open: flag('--open', 'the payer says how much'),
          description: text('--description <text>', 'shown to the payer'),
        },
        idempotencyKey: 'makes one link of repeats',
        read: inputOf,
        run: ({ paymentLinks }, input, options) => paymentLinks.create(input, options),
      },
    ),
    operation('list', 'List the payment links of the store, newest first', ({ paymentLinks }) =>
      paymentLinks.list(),
    ),
    operation('show <link>', 'Show a payment link', ({ paymentLinks }, { link }) =>
      paymentLinks.retrieve(link),
    ),
    operation(
      'disable <link>',
      'Close a link: nobody can pay through it; its existing sessions stay open',
      ({ paymentLinks }, { link }) => paymentLinks.update(link, { active: false }),
    ),
    operation('enable <link>', 'Open a closed link again', ({ paymentLinks }, { link }) =>
      paymentLinks.update(link, { active: true }),
    ),
    addQr,
  ],
});
