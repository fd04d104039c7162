import { base58Of } from '../../checkout/wallet/base58.ts';
import { decimalOf, Halt } from '../../checkout/wallet/payer-steps.ts';
import { approvesDue } from '../../checkout/wallet/solana-transaction.ts';
import { bytesOf, canSign, connect, signAndSend, signText } from '../../checkout/wallet/standard-steps.ts';
import { builtMandate } from './built-mandate.ts';
import type { MandateOffer, MandateWallet, SolanaMandate } from './mandate-run.ts';

// Loaded when the payer chooses a wallet of Solana to be charged.

const NEVER = 'never';

/** What a line of the terms says. */
const lineOf = (text: string, name: string) => new RegExp(`^${name} ([!-~]+)$`, 'm').exec(text)?.[1] ?? '';

/** The terms for the wallet to sign, written here again. Only network, recipient, end and salt come from the server's text. */
export function termsText(
  { token, interval, mint }: { token: string; interval: string; mint: string },
  payer: string,
  { cap, subscriptions, starts_at: startsAt, steps: [, { message }] }: MandateOffer,
): string {
  const taken = (name: string) => `${name} ${lineOf(message ?? '', name)}`;
  const most = `${decimalOf(BigInt(cap))} ${token} in each ${interval}`;
  const lines = [
    'Florin mandate 1',
    `I allow charges of at most ${most}, for each of at most ${subscriptions} subscription(s), to the wallet named as recipient.`,
    'The service that charges keeps this limit. The network keeps only the total that I approve.',
    taken('network'),
    `payer ${payer}`,
    taken('recipient'),
    `asset ${token}`,
    `mint ${mint}`,
    `cap ${cap}`,
    `period ${interval}`,
    `starts_at ${startsAt}`,
    taken('ends_at'),
    `subscriptions ${subscriptions}`,
    taken('salt'),
  ];
  return `${lines.join('\n')}\n`;
}

export function solanaMandate(run: SolanaMandate): MandateWallet {
  const { wallets, token, contract: mint, interval, wallet, isStopped, say } = run;
  const { chain, spender: delegate } = wallets;
  const steps = { wallet, chain, isStopped, say };
  return builtMandate(run, {
    coin: 'SOL',
    approvedWithinMs: 90_000,
    isForAll: true,
    connect: async () => {
      if (!canSign(steps)) throw new Halt('cannot_sign');
      return await connect(steps);
    },
    addressOf: ({ address }) => address,
    isOffered: (account, offer) =>
      offer.wallet === account &&
      offer.steps[0].spender === delegate &&
      BigInt(offer.steps[0].amount) >= BigInt(offer.cap) &&
      offer.steps[1].message === termsText({ token, interval, mint }, account, offer),
    endOf: ({ steps: [, { message }] }) => {
      const end = lineOf(message ?? '', 'ends_at');
      return end === NEVER ? 0 : Number(end);
    },
    sign: (account, { steps: [, { message }] }) => signText(steps, account, message ?? ''),
    approve: async (account, transaction, units) => {
      const bytes = bytesOf(transaction);
      if (!approvesDue(bytes, { owner: account.address, delegate, mint, units })) return undefined;
      return base58Of(await signAndSend(steps, account, bytes));
    },
  });
}
