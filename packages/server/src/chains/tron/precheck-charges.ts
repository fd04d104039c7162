import { accountOfTron, tronOfAccount } from '@florin/signer/tron';
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
import { readTankLimits } from '../signing/top-up-limits.ts';
import { buildActivation } from './build-charge.ts';
import { type ConstantResult, constantCall, readConstantResult, UNKNOWN_CALL } from './contract-call.ts';
import { COLLECTOR_BANDWIDTH, COLLECTOR_ENERGY, limitFor, MOVEMENT_SUN } from './fees.ts';
import { readHeader } from './headers.ts';
import { collectorOf, holderOf, siteOf, tokenOf } from './mandates.ts';
import { ofView } from './node.ts';
import { orUnavailable, readResult, tryRead, unusable } from './node-answers.ts';
import { BEHIND_MAX, findRefusal, type PrecheckContext } from './precheck.ts';
import { readMandates } from './read-mandates.ts';
import { readFinalTrx } from './resources.ts';

const TRY = ofView('head', 'triggerconstantcontract');
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
  const states = await readStates(context, request);
  const isMissing = ({ mandate }: ChargeTerms) => states.get(mandate.mandateId)?.state === 'missing';
  const { home, ...account } = await readAccount(context);
  const refused = await findRefusal(context, {
    token,
    sender: home,
    asset,
    contract: collectorOf(network),
  });
  const isReady = refused === null && !account.isAccountMissing && !account.isOtherOperator;
  const tried = isReady ? charges.filter((charge) => !isMissing(charge)) : [];
  const { faults, unclear, energy } = await tryCharges(context, tried);
  const fee = costs('charge', energy);
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
    native: await readFinalTrx(node, wallets.hot),
    asOf: final.height - BEHIND_MAX,
    tank: {
      address: wallets.resource,
      native: await readFinalTrx(node, wallets.resource),
      nextSequence: null,
      ...(await readTankLimits(context.signer.tronLimits())),
    },
  };
}

/** By the mandates' ids. */
async function readStates(
  context: PrecheckContext,
  { charges, activation }: ChargesRequest,
): Promise<ReadonlyMap<string, MandateState>> {
  const all = [
    ...charges.map(({ mandate }) => mandate),
    ...(activation === undefined ? [] : [activation.mandate]),
  ];
  const mandates = [...new Map(all.map((mandate) => [mandate.mandateId, mandate])).values()];
  const states = await readMandates(context, mandates, 'head');
  return new Map(
    states.flatMap((state, i): [string, MandateState][] => {
      const mandate = mandates[i];
      return mandate === undefined ? [] : [[mandate.mandateId, state]];
    }),
  );
}

/** `home`: where charges go. */
async function readAccount({ network, node, wallets }: PrecheckContext) {
  const collector = collectorOf(network);
  const fields = constantCall(collector, collector, accountData(holderOf(wallets)).slice(2));
  const { data } = readConstantResult(await orUnavailable(node.agreed(TRY, [fields])));
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
): Promise<Tried> {
  const faults = new Map<string, ChargeFault>();
  const unclear = new Set<string>();
  if (charges.length === 0) return { faults, unclear, energy: null };
  const site = siteOf(network);
  const holder = holderOf(wallets);
  const tried = charges.map((charge) => {
    const data = chargeData(site, holder, charge);
    const fields = constantCall(wallets.hot, collectorOf(network), data.slice(2));
    return { chargeId: charge.chargeId, data, request: { method: TRY, params: [fields] } };
  });
  const results = (await node.callMany(tried.map(({ request }) => request))).map(readTried);
  const energy = results.reduce((most, one) => (one.energy > most ? one.energy : most), 0n);
  const refused = tried.flatMap((one, i) => {
    const result = results[i];
    return result === undefined || result.data === undefined ? [{ ...one, result }] : [];
  });
  if (refused.length === 0) return { faults, unclear, energy };
  const header = readHeader(await orUnavailable(node.newest('head')));
  if (header === undefined) throw unusable('there is no newest block');
  const time = Number(header.timeMs / MS);
  const agreed = (await node.agreedMany(refused.map(({ request }) => request))).map(readTried);
  for (const [i, { chargeId, data, result }] of refused.entries()) {
    const fault = triedFaultOf(revertedIn(result), data, time);
    if (fault !== undefined && triedFaultOf(revertedIn(agreed[i]), data, time) === fault)
      faults.set(chargeId, fault);
    else unclear.add(chargeId);
  }
  return { faults, unclear, energy };
}

const readTried = (answer: unknown): ConstantResult =>
  tryRead(() => readConstantResult(readResult(answer))) ?? UNKNOWN_CALL;

const revertedIn = (result: ConstantResult | undefined): string => `0x${result?.reverted ?? ''}`;

/** By the word of two endpoints, as of the newest block. @throws ChainUnavailable, UnbuildableTransfer */
export async function checkMandate(
  context: Pick<PrecheckContext, 'node' | 'network' | 'wallets'>,
  signed: SignedMandate,
): Promise<CheckedMandate> {
  const { node } = context;
  const { contract } = buildActivation(context, signed);
  if (contract.kind !== 'trigger') throw new Error('an activation is a call');
  const [state] = await readMandates(context, [signed.mandate], 'head');
  if (state === undefined) throw new Error('an answer has as many states as mandates');
  const fields = constantCall(contract.owner, contract.contract, Buffer.from(contract.data).toString('hex'));
  const tried = readConstantResult(await orUnavailable(node.agreed(TRY, [fields])));
  return {
    ...state,
    isSignatureRefused: errorName(revertedIn(tried)) === 'BadSignature',
    // An activation has a fixed limit: it would burn that in vain.
    isTaken: tried.data !== undefined && tried.energy <= COLLECTOR_ENERGY.activate,
    permit: null,
  };
}
