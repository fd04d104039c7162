import { collectorAccount, groupOf } from '@florin/signer/contracts';
import {
  type Address,
  bytesToHex,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  stringToHex,
} from 'viem';
import { checkErc20Address } from '../addresses/erc20.ts';
import type { Mandate, MandateRequest, MandateSetup, SignedPermit } from '../port/port.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { PERIOD_SECONDS_MIN } from '../port/port-mandates.ts';
import { toAddress, tokenOf } from './build-transfer.ts';
import { COLLECTOR_ABI, MANDATE_TYPES } from './contracts.ts';
import type { EvmNetwork } from './network.ts';
import { permitWords } from './permit-words.ts';
import { walletJson } from './wallet-json.ts';

/** The wallets of a merchant's account at the collector. */
export interface MandateHolder {
  owner: Address;
  /** Its first operator and home, which its id follows from: the merchant's first hot wallet. */
  first: Address;
}

/** The id of a merchant's account at the collector. */
export const accountIdOf = ({ owner, first }: MandateHolder): Hex =>
  bytesToHex(collectorAccount(owner, first));

const CAP_MAX = 2n ** 64n - 1n;
const SUBSCRIPTIONS_MAX = 2 ** 16 - 1;
const TIME_MAX = 2 ** 40 - 1;
const ALLOWANCE_MAX = 2n ** 256n - 1n;

/** @throws UnbuildableTransfer where the network has no collector */
export function collectorOf({ collector, name }: Pick<EvmNetwork, 'collector' | 'name'>): Address {
  if (collector === null) throw new UnbuildableTransfer(`${name} has no collector: wallets are not charged`);
  return toAddress(collector);
}

/** The mandate as the collector takes it. @throws UnbuildableTransfer */
export function termsOf(network: EvmNetwork, holder: MandateHolder, mandate: Omit<Mandate, 'mandateId'>) {
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`mandate: ${why}`);
  };
  const { payer, cap, subscriptions, startsAt, endsAt } = mandate;
  const checked = checkErc20Address(payer);
  if (!checked.ok || checked.canonical !== payer)
    refuse('the payer is no wallet, or not in its canonical form');
  if (mandate.recipient !== holder.first) refuse('its recipient is not the wallet of this account');
  if (cap <= 0n || cap > CAP_MAX) refuse('cap out of range');
  if (subscriptions === undefined) return refuse('the number of subscriptions is missing');
  if (!isWithin(subscriptions, 1, SUBSCRIPTIONS_MAX)) refuse('number of subscriptions out of range');
  if (!isWithin(startsAt, 0, TIME_MAX)) refuse('start out of range');
  if (endsAt !== null && !isWithin(endsAt, startsAt + 1, TIME_MAX)) refuse('end out of range');
  return {
    payer: toAddress(payer),
    token: tokenOf(network, mandate.asset),
    account: accountIdOf(holder),
    cap,
    period: PERIOD_SECONDS_MIN[mandate.period],
    subscriptions,
    start: startsAt,
    end: endsAt ?? 0,
    salt: keccak256(stringToHex(mandate.salt)),
  };
}

export type MandateTerms = ReturnType<typeof termsOf>;

export const isWithin = (number: number, least: number, most: number) =>
  Number.isSafeInteger(number) && number >= least && number <= most;

function typedDataOf(network: EvmNetwork, message: MandateTerms) {
  const domain = {
    name: 'Florin Collector',
    version: '1',
    chainId: network.chainId,
    verifyingContract: collectorOf(network),
  };
  return { domain, types: MANDATE_TYPES, primaryType: 'Mandate', message } as const;
}

/** As `termsOf`. @throws UnbuildableTransfer where the mandate's id is that of other terms */
export function knownTerms(network: EvmNetwork, holder: MandateHolder, mandate: Mandate): MandateTerms {
  const terms = termsOf(network, holder, mandate);
  if (hashTypedData(typedDataOf(network, terms)) !== mandate.mandateId)
    throw new UnbuildableTransfer('the mandate does not match its id');
  return terms;
}

/** What the payer's wallet is asked for. @throws UnbuildableTransfer */
export function mandateSetupOf(
  network: EvmNetwork,
  holder: MandateHolder,
  { allowance, ...request }: MandateRequest,
): MandateSetup {
  if (allowance < 0n || allowance > ALLOWANCE_MAX) throw new UnbuildableTransfer('allowance out of range');
  const { permitUntil: _, ...terms } = request;
  const complete = { ...terms, recipient: holder.first };
  const typedData = typedDataOf(network, termsOf(network, holder, complete));
  const mandate = { ...complete, mandateId: hashTypedData(typedData) };
  const spender = collectorOf(network);
  return {
    mandate,
    spender,
    steps: [
      { kind: 'approve', asset: mandate.asset, spender, amount: allowance },
      { kind: 'activate', mandateId: mandate.mandateId, typedData: walletJson(typedData) },
    ],
  };
}

/** The id of a charge or subscription at the collector. @throws UnbuildableTransfer unless it is a UUID */
export function collectorIdOf(id: string): Hex {
  try {
    return bytesToHex(groupOf(id));
  } catch {
    throw new UnbuildableTransfer('charges and subscriptions are named by UUIDs');
  }
}

export function activateData(terms: MandateTerms, signature: Hex, permit?: SignedPermit): Hex {
  if (permit === undefined)
    return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'activate', args: [terms, signature] });
  const words = permitWords(permit);
  if (words === undefined) throw new UnbuildableTransfer('the approval is not signed by a key');
  const args = [terms, signature, words] as const;
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'activateWithPermit', args });
}

export function openData({ owner, first }: MandateHolder): Hex {
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'open', args: [owner, first, first] });
}

/** A contract's wallet signs in a form of its own. */
const SIGNATURE_FORM = /^0x(?:[0-9a-f]{2}){1,4096}$/;

/** @throws UnbuildableTransfer */
export function readSignature(text: string): Hex {
  if (!SIGNATURE_FORM.test(text)) throw new UnbuildableTransfer('the signature is no bytes in hex');
  return `0x${text.slice(2)}`;
}
