import { groupOf } from '@florin/signer/contracts';
import { bytesToHex, encodeFunctionData, type Hex, hashTypedData, keccak256, stringToHex } from 'viem';
import { UnservedMandate } from '../charges/charge-errors.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import type { ChargeTerms, Mandate, MandateRequest, MandateSetup } from '../port/port.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { PERIOD_SECONDS_MIN } from '../port/port-mandates.ts';
import { COLLECTOR_ABI, MANDATE_TYPES, PROBE_ABI } from './abi.ts';
import { accountIdOf, type CollectorSite, type MandateHolder } from './site.ts';
import { walletJson } from './wallet-json.ts';

const CAP_MAX = 2n ** 64n - 1n;
const SUBSCRIPTIONS_MAX = 2 ** 16 - 1;
const TIME_MAX = 2 ** 40 - 1;
const ALLOWANCE_MAX = 2n ** 256n - 1n;
/** The collector counts windows in 32 bits. */
const WINDOW_MAX = 2 ** 32 - 1;

/** The mandate as the collector takes it. @throws UnbuildableTransfer */
function termsOf(site: CollectorSite, holder: MandateHolder, mandate: Omit<Mandate, 'mandateId'>) {
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`mandate: ${why}`);
  };
  const { cap, subscriptions, startsAt, endsAt } = mandate;
  const payer = site.accountOf(mandate.payer);
  if (payer === undefined) return refuse('the payer is no wallet, or not in its canonical form');
  if (mandate.recipient !== site.addressOf(holder.first))
    refuse('its recipient is not the wallet of this account');
  if (cap <= 0n || cap > CAP_MAX) refuse('cap out of range');
  if (subscriptions === undefined) return refuse('the number of subscriptions is missing');
  if (!isWithin(subscriptions, 1, SUBSCRIPTIONS_MAX)) refuse('number of subscriptions out of range');
  if (!isWithin(startsAt, 0, TIME_MAX)) refuse('start out of range');
  if (endsAt !== null && !isWithin(endsAt, startsAt + 1, TIME_MAX)) refuse('end out of range');
  return {
    payer,
    token: site.tokenOf(mandate.asset),
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

const isWithin = (number: number, least: number, most: number) =>
  Number.isSafeInteger(number) && number >= least && number <= most;

function typedDataOf({ chainId, collector }: CollectorSite, message: MandateTerms) {
  const domain = { name: 'Florin Collector', version: '1', chainId, verifyingContract: collector };
  return { domain, types: MANDATE_TYPES, primaryType: 'Mandate', message } as const;
}

/** The id of a mandate that nobody signs: no other code answers so, and none for which the network has another number. */
export function probeOf(site: CollectorSite): { data: Hex; answer: Hex } {
  const { collector } = site;
  const account = accountIdOf({ owner: collector, first: collector });
  const term = { cap: 1n, period: 1, subscriptions: 1, start: 0, end: 1 };
  const terms = { payer: collector, token: collector, account, ...term, salt: account };
  return {
    data: encodeFunctionData({ abi: PROBE_ABI, functionName: 'mandateIdOf', args: [terms] }),
    answer: hashTypedData(typedDataOf(site, terms)),
  };
}

/** As `termsOf`. @throws UnservedMandate where the mandate's id is that of other terms, or of another collector */
export function knownTerms(site: CollectorSite, holder: MandateHolder, mandate: Mandate): MandateTerms {
  const terms = termsOf(site, holder, mandate);
  if (hashTypedData(typedDataOf(site, terms)) !== mandate.mandateId)
    throw new UnservedMandate(
      'the mandate does not match its id: it was given to another collector than the networks file names',
    );
  return terms;
}

/** What the payer's wallet is asked for. @throws UnbuildableTransfer */
export function mandateSetupOf(
  site: CollectorSite,
  holder: MandateHolder,
  { allowance, ...request }: MandateRequest,
): MandateSetup {
  if (allowance < 0n || allowance > ALLOWANCE_MAX) throw new UnbuildableTransfer('allowance out of range');
  const { permitUntil: _, ...terms } = request;
  const complete = { ...terms, recipient: site.addressOf(holder.first) };
  const typedData = typedDataOf(site, termsOf(site, holder, complete));
  const mandate = { ...complete, mandateId: hashTypedData(typedData) };
  const spender = site.addressOf(site.collector);
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
function collectorIdOf(id: string): Hex {
  try {
    return bytesToHex(groupOf(id));
  } catch {
    throw new UnbuildableTransfer('charges and subscriptions are named by UUIDs');
  }
}

/** @throws UnbuildableTransfer */
export function chargeData(site: CollectorSite, holder: MandateHolder, spec: ChargeTerms): Hex {
  const { mandate, chargeId, subscriptionId, amount, windowStart, windowEnd } = spec;
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`charge ${chargeId}: ${why}`);
  };
  const terms = knownTerms(site, holder, mandate);
  if (amount <= 0n || amount > AMOUNT_MAX) refuse('amount out of range');
  for (const time of [windowStart, windowEnd])
    if (!isWithin(time, 0, WINDOW_MAX)) refuse('window out of range');
  const charge = {
    id: collectorIdOf(chargeId),
    subscription: collectorIdOf(subscriptionId),
    amount,
    windowStart,
    windowEnd,
  };
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'charge', args: [terms, charge] });
}

export function activateData(terms: MandateTerms, signature: Hex): Hex {
  return encodeFunctionData({ abi: COLLECTOR_ABI, functionName: 'activate', args: [terms, signature] });
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
