import { NETWORKS, type Network } from '@florin/contract/money';
import { checkAddress } from './check.ts';

/** The forms of transaction ids, and whether letter case means nothing in them. */
const TX_ID: Record<Network, { form: RegExp; isHex: boolean }> = {
  erc20: { form: /^0x[0-9a-f]{64}$/i, isHex: true },
  trc20: { form: /^[0-9a-f]{64}$/i, isHex: true },
  spl: { form: /^[1-9A-HJ-NP-Za-km-z]{80,90}$/, isHex: false },
};

const among = (network: Network | undefined) => (network === undefined ? NETWORKS : [network]);

/**
 * An address in the form in which it is stored. Addresses that nothing is sent to have their form, too.
 *
 * @returns undefined: no network (or not this one) has such addresses
 */
export function storedAddress(text: string, network?: Network): string | undefined {
  for (const one of among(network)) {
    const { ok, code, canonical } = checkAddress(one, text, { allowProgramOwned: true });
    if (ok || (code !== 'format' && code !== 'checksum')) return canonical;
  }
  return undefined;
}

/** A transaction's id in the form in which it is stored; undefined: no network (or not this one) has such ids. */
export function storedTxId(text: string, network?: Network): string | undefined {
  const fits = among(network).find((one) => TX_ID[one].form.test(text));
  return fits && TX_ID[fits].isHex ? text.toLowerCase() : fits && text;
}
