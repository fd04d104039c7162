import { activateData, chargeData, knownTerms, openData, readSignature } from '../collector/mandates.ts';
import type { ChargeSpec, Movement } from '../port/port.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import type { Draft, Payer } from './build-payment.ts';
import { collectorOf, holderOf, siteOf } from './mandates.ts';

/** r, s and v of a key: a contract that is asked for its own word may use as much energy as it likes. */
const SIGNATURE_FORM = /^0x[0-9a-f]{128}1[bc]$/;

/** @throws UnbuildableTransfer */
export function buildCharge({ network, wallets }: Payer, spec: ChargeSpec): Draft {
  if (spec.keyRef !== 'hot')
    throw new UnbuildableTransfer(`the hot wallet alone charges on this network, not ${spec.keyRef}`);
  const { mandate, chargeId, amount } = spec;
  const { payer, asset } = mandate;
  const data = chargeData(siteOf(network), holderOf(wallets), spec);
  return {
    purpose: { kind: 'charge', id: chargeId, asset, payer, amount: String(amount) },
    ...calling(wallets.hot, collectorOf(network), data),
    use: 'charge',
  };
}

/** Opens the merchant's account at the collector. @throws UnbuildableTransfer */
export function buildAccount({ network, wallets, account }: Payer): Draft {
  return {
    purpose: { kind: 'account', account },
    ...calling(wallets.resource, collectorOf(network), openData(holderOf(wallets))),
    use: 'account',
  };
}

/** Brings a mandate that its payer has signed to the collector. @throws UnbuildableTransfer */
export function buildActivation(
  { network, wallets }: Pick<Payer, 'network' | 'wallets'>,
  { mandate, signature, permit }: Omit<Extract<Movement, { kind: 'activate' }>, 'kind'>,
): Draft {
  if (permit !== undefined) throw new UnbuildableTransfer('no token of this network takes a signed approval');
  if (!SIGNATURE_FORM.test(signature)) throw new UnbuildableTransfer('the signature is not that of a key');
  const terms = knownTerms(siteOf(network), holderOf(wallets), mandate);
  const { asset, payer } = mandate;
  return {
    purpose: { kind: 'activate', asset, payer },
    ...calling(wallets.hot, collectorOf(network), activateData(terms, readSignature(signature))),
    use: 'activate',
  };
}

function calling(sender: string, contract: string, data: string): Pick<Draft, 'sender' | 'contract'> {
  const bytes = Uint8Array.from(Buffer.from(data.slice(2), 'hex'));
  return { sender, contract: { kind: 'trigger', owner: sender, contract, data: bytes } };
}
