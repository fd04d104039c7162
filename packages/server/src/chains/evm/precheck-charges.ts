import { ASSETS } from '@florin/contract/money';
import type { Address } from 'viem';
import { triedFaultOf } from '../collector/errors.ts';
import { chargeData, knownTerms, readSignature } from '../collector/mandates.ts';
import { accountData, readAccountAt } from '../collector/read.ts';
import type { Head, Movement } from '../port/port.ts';
import { ChainUnavailable, UnbuildableTransfer } from '../port/port-errors.ts';
import type { ChargeFault, ChargeTerms, MandateState } from '../port/port-mandates.ts';
import type {
  ChargesPrecheck,
  ChargesRequest,
  CheckedMandate,
  SignedMandate,
} from '../port/port-precheck.ts';
import { NodeError, type NodeRequest } from '../rpc/node.ts';
import { readInHalves } from '../rpc/read-in-halves.ts';
import type { MovementWallets } from './build-movement.ts';
import { isRefusedAs, revertedIn } from './collector-errors.ts';
import { priceOf } from './fees.ts';
import { type GasUse, gasLimit } from './gas.ts';
import { activationData, collectorOf, siteOf } from './mandates.ts';
import type { EvmNetwork } from './network.ts';
import type { EvmNode } from './node.ts';
import { readFeeHistory, readQuantity, readRecord, readsOf, toQuantity, unusable } from './node-answers.ts';
import { checkPermit } from './permits.ts';
import { readNative, readTank, readToken } from './precheck.ts';
import { readMandates } from './read-mandates.ts';

interface MerchantOnNetwork {
  network: EvmNetwork;
  node: EvmNode;
  wallets: MovementWallets;
  /** As `Chain.head`: what is behind its final block has no say in what decides a charge. */
  head: () => Promise<Pick<Head, 'finalHeight'>>;
}

/**
 * What charges need before they are signed, and which would fail, as of the newest block: each is tried as a call, which
 * reads cap, windows, balance and allowance by the collector's own rules. What ends a charge is known by two endpoints.
 *
 * @throws ChainUnavailable, FeeCeilingReached, UnbuildableTransfer
 */
export async function precheckCharges(
  merchant: MerchantOnNetwork,
  request: ChargesRequest,
): Promise<ChargesPrecheck> {
  const { network, node, wallets } = merchant;
  const { asset, charges, activation } = request;
  const reads = readsOf(node);
  const collector = collectorOf(network);
  const { maxFeePerGas } = priceOf(await readFeeHistory(reads), network.feeCeilings);
  const costs = (use: GasUse) => gasLimit(use, network.feeCeilings.gasPerTransaction) * maxFeePerGas;
  const { finalHeight: from } = await merchant.head();
  const states = await readStates(merchant, request, from);
  const isThere = ({ mandate }: ChargeTerms) =>
    (states.get(mandate.mandateId)?.state ?? 'missing') !== 'missing';
  const { home, ...account } = await readAccount(merchant, from);
  const token = { asset, items: [], contract: collector, from };
  const { refused } = await readToken(node, network, { ...token, sender: home });
  const isReady = refused === null && !account.isAccountMissing && !account.isOtherOperator;
  const { faults, unclear } = await findFaults(merchant, isReady ? charges.filter(isThere) : [], from);
  const unread = charges.filter(({ mandate }) => !states.has(mandate.mandateId));
  // Before what the hot wallet holds: a top-up that is mined in between is counted once too often, and not ordered twice.
  const tank = await readTank(reads, wallets.tank);
  return {
    refused,
    native: await readNative(reads, wallets.hot),
    tank,
    fee: costs({ kind: 'charge' }),
    dearest: costs({ kind: 'permit' }),
    movementFees: {
      gas: costs({ kind: 'plain' }),
      account: costs({ kind: 'account' }),
      activate: costs({ kind: activation?.permit === undefined ? 'activate' : 'permit' }),
    },
    ...account,
    missing: new Set([...states].filter(([, { state }]) => state === 'missing').map(([id]) => id)),
    faults,
    unclear: new Set([...unclear, ...unread.map(({ chargeId }) => chargeId)]),
    activation: activation === undefined ? null : await checkMandate(merchant, activation),
  };
}

/** By the mandates' ids; one that cannot be read is absent. */
async function readStates(
  { network, node }: MerchantOnNetwork,
  { charges, activation }: ChargesRequest,
  from: bigint,
): Promise<ReadonlyMap<string, MandateState>> {
  const all = [
    ...charges.map(({ mandate }) => mandate),
    ...(activation === undefined ? [] : [activation.mandate]),
  ];
  const mandates = [...new Map(all.map((mandate) => [mandate.mandateId, mandate])).values()];
  if (mandates.length === 0) return new Map();
  const states = await readMandates({ node, network }, mandates, { from });
  return new Map(
    states.flatMap((state, i): [string, MandateState][] => {
      const mandate = mandates[i];
      return mandate === undefined || state === undefined ? [] : [[mandate.mandateId, state]];
    }),
  );
}

interface ReadAccount extends Pick<ChargesPrecheck, 'isAccountMissing' | 'isOtherOperator'> {
  /** Where charges go: a rotated wallet, for two days. A token that refuses it fails charges, and what lands there is frozen. */
  home: Address;
}

async function readAccount(
  { network, node, wallets }: MerchantOnNetwork,
  from: bigint,
): Promise<ReadAccount> {
  const params = [{ to: collectorOf(network), data: accountData(wallets) }, 'latest'];
  const [answer] = await node.agreedFrom(from, [{ method: 'eth_call', params }]);
  const account = readAccountAt(`0x${String(answer).slice(2)}`);
  if (account === undefined)
    throw new ChainUnavailable('erc20', 'the account at the collector is unreadable');
  const [owner, operator, home] = account;
  const isAccountMissing = BigInt(owner) === 0n;
  return {
    home: isAccountMissing ? wallets.hot : home,
    isAccountMissing,
    isOtherOperator: !isAccountMissing && BigInt(operator) !== BigInt(wallets.hot),
  };
}

/**
 * Whether the token now refuses every charge into the merchant's wallet, whoever pays: it is paused, or its issuer has blocked that wallet
 * or the collector.
 *
 * @throws ChainUnavailable
 */
export async function refusesUs(merchant: MerchantOnNetwork, token: Address): Promise<boolean> {
  const { network, node } = merchant;
  const asset = ASSETS.find((one) => network.tokens[one]?.address === token);
  // Without a collector there are no charges that could be refused.
  if (asset === undefined || network.collector === null) return false;
  const { finalHeight: from } = await merchant.head();
  const { home: sender } = await readAccount(merchant, from);
  const asked = { asset, items: [], contract: collectorOf(network), sender, from };
  return (await readToken(node, network, asked)).refused !== null;
}

async function findFaults(
  { network, node, wallets }: MerchantOnNetwork,
  charges: readonly ChargeTerms[],
  from: bigint,
): Promise<Pick<ChargesPrecheck, 'faults' | 'unclear'>> {
  const site = siteOf(network);
  const tried = charges.map((charge) => {
    const data = chargeData(site, wallets, charge);
    const params = [{ from: wallets.hot, to: site.collector, data }, 'latest'];
    return { chargeId: charge.chargeId, data, call: { method: 'eth_call', params } satisfies NodeRequest };
  });
  const answers = await node.callMany(tried.map(({ call }) => call));
  const refused = tried.flatMap((one, i) => {
    const answer = answers[i];
    return answer instanceof NodeError ? [{ ...one, answer }] : [];
  });
  if (refused.length === 0) return { faults: new Map(), unclear: new Set() };
  const { timestamp } = readRecord(await node.newest('latest'), 'the newest block');
  const time = Number(readQuantity(timestamp, 'timestamp'));
  const agreed = await readInHalves(refused, (some) =>
    node.agreedFrom(
      from,
      some.map(({ call }) => call),
    ),
  );
  const faults = new Map<string, ChargeFault>();
  const unclear = new Set<string>();
  for (const [i, { chargeId, data, answer }] of refused.entries()) {
    // One alone had said that it fails.
    if (agreed[i] !== undefined && !(agreed[i] instanceof NodeError)) continue;
    const fault = triedFaultOf(revertedIn(answer), data, time);
    if (fault !== undefined && triedFaultOf(revertedIn(agreed[i]), data, time) === fault)
      faults.set(chargeId, fault);
    else unclear.add(chargeId);
  }
  return { faults, unclear };
}

/** @throws ChainUnavailable, UnbuildableTransfer */
export async function checkMandate(
  merchant: MerchantOnNetwork,
  { mandate, signature, permit }: SignedMandate,
): Promise<CheckedMandate> {
  const { network, node, wallets } = merchant;
  const data = activationData(knownTerms(siteOf(network), wallets, mandate), readSignature(signature));
  // Before the allowance: a permit that is spent by now is in what the wallet allows.
  const permitState = permit === undefined ? null : await checkPermit({ network, node }, { mandate, permit });
  const { finalHeight: from } = await merchant.head();
  const [state] = await readMandates({ node, network }, [mandate], { from });
  if (state === undefined) throw unusable('what the collector says of a mandate cannot be read');
  // With the gas that the transaction has: a contract's wallet that needs more would fail in it each time.
  const gas = toQuantity(gasLimit({ kind: 'activate' }, network.feeCeilings.gasPerTransaction));
  const call = { from: wallets.hot, to: collectorOf(network), data, gas };
  const [answer] = await node.agreedFrom(from, [{ method: 'eth_call', params: [call, 'latest'] }]);
  const isTaken = !(answer instanceof NodeError);
  return { ...state, isSignatureRefused: isRefusedAs(answer, 'BadSignature'), isTaken, permit: permitState };
}

/**
 * An activation may have been reserved long before it is signed: its signed approval may be spent or too old by then, or for less
 * than its wallet allows. Not for a version of what is sent already, which competes with it.
 *
 * @throws ChainUnavailable, UnbuildableTransfer
 */
export async function assertPermitted(merchant: MerchantOnNetwork, movement: Movement): Promise<void> {
  if (movement.kind !== 'activate' || movement.permit === undefined) return;
  const { permit: state, allowance } = await checkMandate(merchant, movement);
  if (state !== 'open') throw new UnbuildableTransfer(`the signed approval is ${state}`);
  if (allowance >= movement.permit.amount) throw new UnbuildableTransfer('the wallet allows as much already');
}
