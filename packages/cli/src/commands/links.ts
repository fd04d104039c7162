import { writeFileSync } from 'node:fs';
import type { PaymentLink, PaymentLinkInput } from '@florin/sdk';
import type { Command } from 'commander';
import { renderSVG, renderUnicodeCompact } from 'uqr';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { merchant, resource } from '../operations.ts';
import { flag, text } from '../parameters.ts';
import { priceOf, readCurrency, readPrice } from '../prices.ts';
import { print, toJson, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

/** Blank modules around a code, without which readers do not find it. */
const QUIET_ZONE = 4;

const summary = (link: PaymentLink) => ({
  id: link.id,
  active: link.active,
  price: link.amount === null ? `open, ${link.currency}` : priceOf({ ...link, amount: link.amount }),
  url: link.url,
  description: link.description,
  created: timeOf(link.created),
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

function writeSvg(file: string, url: string): void {
  try {
    writeFileSync(file, renderSVG(url, { ecc: 'M', border: QUIET_ZONE }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure('svg', `The file cannot be written: ${reason}`, { cause: error });
  }
}

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

export const addLinks = resource({
  name: 'links',
  description: 'Payment links: pages that anybody may pay through',
  examples: ['florin links create 19.99 USD', 'florin links qr plink_01… --svg counter.svg'],
  operations: [
    merchant(
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
        call: ({ paymentLinks }, input, options) => paymentLinks.create(input, options),
        row: summary,
      },
    ),
    merchant('list', 'List the payment links of the store, newest first', {
      call: ({ paymentLinks }) => paymentLinks.list(),
      row: summary,
    }),
    merchant('show <link>', 'Show a payment link', {
      call: ({ paymentLinks }, { link }) => paymentLinks.retrieve(link),
      row: summary,
    }),
    merchant('disable <link>', 'Close a link: nobody can pay through it; sessions that it has made go on', {
      call: ({ paymentLinks }, { link }) => paymentLinks.update(link, { active: false }),
      row: summary,
    }),
    merchant('enable <link>', 'Open a closed link again', {
      call: ({ paymentLinks }, { link }) => paymentLinks.update(link, { active: true }),
      row: summary,
    }),
    addQr,
  ],
});
