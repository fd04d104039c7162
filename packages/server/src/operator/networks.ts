import { NETWORKS, type Network } from '@florin/contract/money';
import type { App } from '../app.ts';
import { Fail } from '../platform/fail.ts';
import { encodeId } from '../platform/ids.ts';
import { adoptSequence } from '../transfers/index.ts';
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

export function networkCommands(app: App) {
  return {
    /** Lets a wallet send again that was used elsewhere: after `ledger verify` said what that did. */
    adoptSequence: async (networkText: string, merchantText?: string) => {
      const network = networkBy(networkText);
      const merchant = await merchantBy(app, merchantText);
      const adopted = await adoptSequence(app, merchant, network);
      return { merchant_id: encodeId('merchant', merchant.merchantId), network, adopted };
    },
  };
}
