import { ASSETS, formatTokens, NETWORKS, type Network, parseTokens } from '@florin/contract/money';
import type { App } from '../app.ts';
import { isoOf, NIL_ID } from '../platform/db/index.ts';
import { Fail } from '../platform/fail.ts';
import { bookSurplus, fillFloat } from '../reconciliation/index.ts';
import { identifyApprover } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { adoptSequence, listStops, resumeNetwork } from '../transfers/index.ts';
import { merchantBy } from './context.ts';

/** @throws Fail for what is no network */
export function networkBy(text: string): Network {
  const network = NETWORKS.find((known) => known === text);
  if (network !== undefined) return network;
  throw new Fail('invalid_request', {
    message: `The network is one of ${NETWORKS.join(', ')}.`,
    param: 'network',
  });
}

const REFERENCE = /^[!-~](?:[ -~]{0,126}[!-~])?$/;

/** What an operator typed of coins sent for a merchant. */
export interface FillWords {
  network: string;
  currency: string;
  /** In tokens: `100.00`. */
  amount: string;
  reference: string;
}

/** What an operator typed of coins that a stranger sent, and who says so. */
export interface SurplusWords extends FillWords {
  /** Name of the registered approver. */
  as: string;
  token: string;
}

/** @throws Fail for what is no such currency, amount or reference */
function coinsBy({ currency: text, amount, reference }: FillWords) {
  const refuse = (param: keyof FillWords, message: string) => new Fail('invalid_request', { message, param });
  const currency = ASSETS.find((known) => known === text);
  if (currency === undefined) throw refuse('currency', `The currency is one of ${ASSETS.join(', ')}.`);
  if (!REFERENCE.test(reference)) throw refuse('reference', 'A reference is 1 to 128 printable characters.');
  try {
    const units = parseTokens(amount);
    if (units > 0n) return { currency, amount: units, reference };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw refuse('amount', 'The amount is a decimal above 0 with at most six decimals, such as 100.00.');
}

type Stop = Awaited<ReturnType<typeof listStops>>[number];

interface NetworkLine {
  network: Network;
  status: 'open' | 'stopped';
  /** Null where it is open, and where it is stopped for all live merchants. */
  merchant_id: string | null;
  stopped_at: string | null;
  reason: string | null;
}

const showStop = (stop: Stop): NetworkLine => ({
  network: stop.network,
  status: 'stopped',
  merchant_id: stop.merchant_id === NIL_ID ? null : encodeId('merchant', stop.merchant_id),
  stopped_at: isoOf(Number(stop.stopped_at) * 1000),
  reason: stop.reason,
});

export function networkCommands(app: App) {
  return {
    /** Every network, and where sending on it is stopped. */
    list: async () => {
      const stops = await listStops(app.db);
      return NETWORKS.flatMap((network): NetworkLine[] => {
        const own = stops.filter((stop) => stop.network === network).map(showStop);
        const open: NetworkLine = {
          network,
          status: 'open',
          merchant_id: null,
          stopped_at: null,
          reason: null,
        };
        return own.length > 0 ? own : [open];
      });
    },
    /** Lets a network go on, wherever it is stopped or for one merchant: after somebody has looked. */
    resume: async (networkText: string, merchantText?: string) => {
      const network = networkBy(networkText);
      const merchant = merchantText === undefined ? undefined : await merchantBy(app, merchantText);
      return { network, resumed: await resumeNetwork(app.db, network, merchant) };
    },
    /** Books coins that the operator has sent for what a reorganisation took. */
    fill: async (words: FillWords, merchantText?: string) => {
      const network = networkBy(words.network);
      const { currency, amount, reference } = coinsBy(words);
      const merchant = await merchantBy(app, merchantText);
      const { missing, ...filled } = await fillFloat(
        app,
        { merchant, network },
        { currency, amount, reference },
      );
      const merchant_id = encodeId('merchant', merchant.merchantId);
      const tokens = { amount: formatTokens(amount), still_missing: formatTokens(missing) };
      return { ...filled, merchant_id, network, currency, ...tokens, reference };
    },
    /** Books coins that a stranger sent to the hot wallet, once a second registered person says the same. */
    bookSurplus: async (words: SurplusWords, merchantText?: string) => {
      const network = networkBy(words.network);
      const coins = coinsBy(words);
      const merchant = await merchantBy(app, merchantText);
      const credentials = { name: words.as, token: words.token };
      const { approverId } = await identifyApprover(app, merchant.merchantId, credentials);
      const vote = { ...coins, approverId };
      const { isDone: done, ...booked } = await bookSurplus(app, { merchant, network }, vote);
      const merchant_id = encodeId('merchant', merchant.merchantId);
      const { currency, amount, reference } = coins;
      return { ...booked, done, merchant_id, network, currency, amount: formatTokens(amount), reference };
    },
    /** Lets a wallet send again that was used elsewhere: after `ledger verify` said what that did. */
    adoptSequence: async (networkText: string, merchantText?: string) => {
      const network = networkBy(networkText);
      const merchant = await merchantBy(app, merchantText);
      const adopted = await adoptSequence(app, merchant, network);
      return { merchant_id: encodeId('merchant', merchant.merchantId), network, adopted };
    },
  };
}
