import { ASSETS } from '@florin/contract/money';
import { accountOfTron, tronOfAccount } from '@florin/signer/tron';
import { largestOf } from '../../platform/amounts.ts';
import { errorName, triedFaultOf } from '../collector/errors.ts';
import { chargeData } from '../collector/mandates.ts';
import { accountData, readAccountAt } from '../collector/read.ts';
import type {
  ChargeFault,
  ChargesPrecheck,
  ChargesRequest,
  ChargeTerms,
  CheckedMandate,
  MandateState,
  SignedMandate,
} from '../port/port.ts';
import { readInHalves } from '../rpc/read-in-halves.ts';
import { readTankLimits } from '../signing/top-up-limits.ts';
import { buildActivation } from './build-charge.ts';
import { type ConstantResult, constantCall, readConstantResult } from './contract-call.ts';
import { estimateCalls, readTried, tryRequest } from './estimates.ts';
import { COLLECTOR_BANDWIDTH, COLLECTOR_ENERGY, limitFor, MOVEMENT_SUN } from './fees.ts';
import { readHeader } from './headers.ts';
import { collectorOf, holderOf, siteOf, tokenOf } from './mandates.ts';
import type { Reached } from './node.ts';
import { orUnavailable, readResult, unusable } from './node-answers.ts';
import { BEHIND_MAX, findRefusal, type PrecheckContext } from './precheck.ts';
import { readMandates } from './read-mandates.ts';
import { readFinalTrx } from './resources.ts';

const MS = 1_000n;

/**
 * What charges need before they are signed, and which would fail, as of the newest block: each is tried as a call, which reads cap, windows,
 * balance and allowance by the collector's own rules. What ends a charge is known by two endpoints. TRX is as of a final block.
 *
 * @throws ChainUnavailable, FeeCeilingReached, UnbuildableTransfer
 */
export async function precheckCharges(
  context: PrecheckContext,
  request: ChargesRequest,
): Promise<ChargesPrecheck> {
  const { network, node, feed, wallets, prices } = context;
  const { asset, charges, activation } = request;
  const token = tokenOf(network, asset);
  // Before anything is read of the wallets.
  const { final } = await feed.snapshot();
  const { energy: price, bandwidth } = await prices.read();
  const costs = (use: keyof typeof COLLECTOR_ENERGY, energy: bigint | null = null) =>
    limitFor(network, { energy, use, price }) + COLLECTOR_BANDWIDTH * bandwidth;
  const from = { view: 'head', height: final.height } as const;
  const states = await readStates(context, request, from);
  const isThere = ({ mandate }: ChargeTerms) =>
    (states.get(mandate.mandateId)?.state ?? 'missing') !== 'missing';
  const { home, ...account } = await readAccount(context, from);
  const refused = await findRefusal(context, {
    token,
    sender: home,
    asset,
    contract: collectorOf(network),
    height: final.height,
  });
  const isReady = refused === null && !account.isAccountMissing && !account.isOtherOperator;
  const tried = isReady ? charges.filter(isThere) : [];
  const { faults, energy, ...found } = await tryCharges(context, tried, from);
  const unread = charges.filter(({ mandate }) => !states.has(mandate.mandateId));
  const unclear = new Set([...found.unclear, ...unread.map(({ chargeId }) => chargeId)]);
  const fee = costs('charge', energy);
  const asOf = final.height - BEHIND_MAX;
  const activate = costs('activate');
  return {
    refused,
    fee,
    dearest: fee > activate ? fee : activate,
    movementFees: { gas: MOVEMENT_SUN, account: costs('account'), activate },
    ...account,
    missing: new Set([...states].filter(([, { state }]) => state === 'missing').map(([id]) => id)),
    faults,
    unclear,
    activation: activation === undefined ? null : await checkMandate(context, activation),
    native: await readFinalTrx(node, wallets.hot, asOf),
    asOf,
    tank: {
      address: wallets.resource,
      native: await readFinalTrx(node, wallets.resource, asOf),
      nextSequence: null,
      ...(await readTankLimits(context.signer.tronLimits())),
    },
  };
}

/** By the mandates' ids; one that cannot be read is absent. */
async function readStates(
  context: PrecheckContext,
  { charges, activation }: ChargesRequest,
  from: Reached,
): Promise<ReadonlyMap<string, MandateState>> {
  const all = [
    ...charges.map(({ mandate }) => mandate),
    ...(activation === undefined ? [] : [activation.mandate]),
  ];
  const mandates = [...new Map(all.map((mandate) => [mandate.mandateId, mandate])).values()];
  const states = await readMandates(context, mandates, from);
  return new Map(
    states.flatMap((state, i): [string, MandateState][] => {
      const mandate = mandates[i];
      return mandate === undefined || state === undefined ? [] : [[mandate.mandateId, state]];
    }),
  );
}

/**
 * Whether the token now refuses every charge into the merchant's wallet, whoever pays: it is paused, or its issuer has blocked that wallet
 * or the collector.
 *
 * @throws ChainUnavailable
 */
export async function refusesUs(
  context: Pick<PrecheckContext, 'node' | 'network' | 'wallets' | 'feed'>,
  token: string,
): Promise<boolean> {
  const { network, feed } = context;
  const asset = ASSETS.find((one) => network.tokens[one]?.contract === token);
  // Without a collector there are no charges that could be refused.
  if (asset === undefined || network.collector === null) return false;
  const { height } = (await feed.snapshot()).final;
  const { home: sender } = await readAccount(context, { view: 'head', height });
  const asked = { token, asset, sender, contract: collectorOf(network), height };
  return (await findRefusal(context, asked)) !== null;
}

/** `home`: where charges go. */
async function readAccount(
  { network, node, wallets }: Pick<PrecheckContext, 'network' | 'node' | 'wallets'>,
  from: Reached,
) {
  const collector = collectorOf(network);
  const fields = constantCall(collector, collector, accountData(holderOf(wallets)).slice(2));
  const [answer] = await node.agreedFrom(from, [tryRequest(fields)]);
  const { data } = readConstantResult(readResult(answer));
  const account = data === undefined ? undefined : readAccountAt(`0x${data}`);
  if (account === undefined) throw unusable('the account at the collector cannot be read');
  const [owner, operator, home] = account;
  const isAccountMissing = BigInt(owner) === 0n;
  const isOther = BigInt(operator) !== BigInt(accountOfTron(wallets.hot));
  return {
    home: isAccountMissing ? wallets.hot : tronOfAccount(home),
    isAccountMissing,
    isOtherOperator: !isAccountMissing && isOther,
  };
}

interface Tried extends Pick<ChargesPrecheck, 'faults' | 'unclear'> {
  /** The most that one of those that pass uses; null: it is not known. */
  energy: bigint | null;
}

async function tryCharges(
  { network, node, wallets }: PrecheckContext,
  charges: readonly ChargeTerms[],
  from: Reached,
): Promise<Tried> {
  const faults = new Map<string, ChargeFault>();
  const unclear = new Set<string>();
  if (charges.length === 0) return { faults, unclear, energy: null };
  const site = siteOf(network);
  const holder = holderOf(wallets);
  const tried = charges.map((charge) => {
    const data = chargeData(site, holder, charge);
    const fields = constantCall(wallets.hot, collectorOf(network), data.slice(2));
    return { chargeId: charge.chargeId, data, fields };
  });
  const estimates = await estimateCalls(
    node,
    from.height,
    tried.map(({ fields }) => fields),
  );
  const isDoubtful = (i: number) => estimates[i]?.isDoubtful !== false;
  const doubtful = tried.flatMap((one, i) => (isDoubtful(i) ? [{ ...one, estimate: estimates[i] }] : []));
  // What reverts stops early: it says nothing of what the others use.
  const energies = estimates.flatMap(({ energy }, i) => (isDoubtful(i) ? [] : [energy]));
  if (doubtful.length === 0) return { faults, unclear, energy: mostOf(energies) };
  const header = readHeader(await orUnavailable(node.newest('head')));
  if (header === undefined) throw unusable('there is no newest block');
  const time = Number(header.timeMs / MS);
  const agreed = await readInHalves(doubtful, async (some) => {
    const requests = some.map(({ fields }) => tryRequest(fields));
    return (await node.agreedFrom(from, requests)).map(readTried);
  });
  for (const [i, { chargeId, data, estimate }] of doubtful.entries()) {
    const result = agreed[i];
    // One alone had said that it fails.
    if (result?.data !== undefined) energies.push(estimate?.energy ?? null);
    else {
      const fault = triedFaultOf(revertedIn(result), data, time);
      if (fault === undefined) unclear.add(chargeId);
      else faults.set(chargeId, fault);
    }
  }
  return { faults, unclear, energy: mostOf(energies) };
}

/** Null where one of them is not known. */
function mostOf(energies: readonly (bigint | null)[]): bigint | null {
  const known = energies.filter((one) => one !== null);
  const isKnown = known.length > 0 && known.length === energies.length;
  return isKnown ? largestOf(known) : null;
}

const revertedIn = (result: ConstantResult | undefined): string => `0x${result?.reverted ?? ''}`;

/** By the word of two endpoints, as of the newest block. @throws ChainUnavailable, UnbuildableTransfer */
export async function checkMandate(
  context: Pick<PrecheckContext, 'node' | 'network' | 'wallets' | 'feed'>,
  signed: SignedMandate,
): Promise<CheckedMandate> {
  const { node, feed } = context;
  const { contract } = buildActivation(context, signed);
  if (contract.kind !== 'trigger') throw new Error('an activation is a call');
  const { height } = (await feed.snapshot()).final;
  const from = { view: 'head', height } as const;
  const [state] = await readMandates(context, [signed.mandate], from);
  if (state === undefined) throw unusable('what the collector says of a mandate cannot be read');
  const fields = constantCall(contract.owner, contract.contract, Buffer.from(contract.data).toString('hex'));
  const [answer] = await node.agreedFrom(from, [tryRequest(fields)]);
  const tried = readConstantResult(readResult(answer));
  const [estimate] = await estimateCalls(node, height, [fields]);
  return {
    ...state,
    isSignatureRefused: errorName(revertedIn(tried)) === 'BadSignature',
    // An activation has a fixed limit: it would burn that in vain. One endpoint alone keeps none back by a number.
    isTaken: tried.data !== undefined && (estimate?.energy ?? 0n) <= COLLECTOR_ENERGY.activate,
    permit: null,
  };
}
