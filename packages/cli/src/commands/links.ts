import { writeFileSync } from 'node:fs';
import type { PaymentLink, PaymentLinkInput } from '@florin/sdk';
import type { Command } from 'commander';
import { renderSVG, renderUnicodeCompact } from 'uqr';
import { examples } from '../examples.ts';
import { CommandFailure, wrongUsage } from '../failure.ts';
import { florinOf, type MerchantFlags, merchantCommand, timeOf } from '../merchant.ts';
import { priceOf, readCurrency, readPrice } from '../prices.ts';
import { print, show, toJson, wantsJson } from '../show.ts';
import { note } from '../terminal.ts';

/** Blank modules around a code, without which readers do not find it. */
const QUIET_ZONE = 4;

interface CreateFlags extends MerchantFlags {
  open?: true;
  description?: string;
  idempotencyKey?: string;
}

const summary = (link: PaymentLink) => ({
  id: link.id,
  active: link.active,
  price: link.amount === null ? `open, ${link.currency}` : priceOf({ ...link, amount: link.amount }),
  url: link.url,
  description: link.description,
  created: timeOf(link.created),
});

/** `19.99 USD`, or `USD --open`. */
function inputOf(words: readonly string[], { open, description }: CreateFlags): PaymentLinkInput {
  const text = description === undefined ? {} : { description };
  const [first = '', second] = words;
  if (open && second === undefined) return { open, currency: readCurrency(first), ...text };
  if (!open && second !== undefined) return { ...readPrice(first, second), ...text };
  throw wrongUsage('Give an amount and a currency (19.99 USD), or a currency and --open (USD --open).');
}

function addCreate(group: Command): void {
  const lines = [
    'florin links create 19.99 USD --description "One coffee"',
    'florin links create USD --open   # the payer says how much',
  ];
  merchantCommand(group, 'create <amount-or-currency> [currency]', lines)
    .description('Create a link that anybody may pay through, as often as they like')
    .option('--open', 'the payer says how much')
    .option('--description <text>', 'shown to the payer')
    .option('--idempotency-key <key>', 'makes one link of repeats')
    .action(async (first: string, second: string | undefined, flags: CreateFlags, command: Command) => {
      const words = second === undefined ? [first] : [first, second];
      const { idempotencyKey } = flags;
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      show(command, await florinOf(flags).paymentLinks.create(inputOf(words, flags), options), summary);
    });
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

export function addLinks(program: Command): void {
  const group = program.command('links').description('Payment links: pages that anybody may pay through');
  examples(group, ['florin links create 19.99 USD', 'florin links qr plink_01… --svg counter.svg']);
  addCreate(group);
  merchantCommand(group, 'list', ['florin links list', 'florin links list --json'])
    .description('List the payment links of the store, newest first')
    .action(async (flags: MerchantFlags, command: Command) => {
      const links: PaymentLink[] = [];
      for await (const link of florinOf(flags).paymentLinks.list()) links.push(link);
      show(command, links, summary);
    });
  merchantCommand(group, 'show <link>', ['florin links show plink_01…'])
    .description('Show a payment link')
    .action(async (id: string, flags: MerchantFlags, command: Command) => {
      show(command, await florinOf(flags).paymentLinks.retrieve(id), summary);
    });
  const states = [
    ['disable', false, 'Close a link: nobody can pay through it; sessions that it has made go on'],
    ['enable', true, 'Open a closed link again'],
  ] as const;
  for (const [verb, active, description] of states) {
    merchantCommand(group, `${verb} <link>`, [`florin links ${verb} plink_01…`])
      .description(description)
      .action(async (id: string, flags: MerchantFlags, command: Command) => {
        show(command, await florinOf(flags).paymentLinks.update(id, { active }), summary);
      });
  }
  addQr(group);
}
