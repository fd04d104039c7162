import type { Asset } from '@florin/contract/money';
import { checkTrc20Address } from '../addresses/trc20.ts';
import { depositIndexOf, type Precheck, type PrecheckRequest, UnbuildableTransfer } from '../port/port.ts';
import { readTankLimits } from '../signing/top-up-limits.ts';
import {
  BLACKLIST,
  constantCall,
  flagCall,
  PAUSED,
  readConstantResult,
  transferCall,
  UNKNOWN_CALL,
} from './contract-call.ts';
import type { TronFeed } from './feed.ts';
import { limitFor, MOVEMENT_SUN, type PriceList, TRANSFER_BANDWIDTH } from './fees.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type TronNode } from './node.ts';
import { readResult, tryRead } from './node-answers.ts';
import type { TronWallets } from './reader.ts';
import { readEnergy, readFinalTrx } from './resources.ts';
import type { TronSigner } from './signing.ts';

export interface PrecheckContext {
  network: TronNetwork;
  node: TronNode;
  feed: TronFeed;
  wallets: TronWallets;
  prices: PriceList;
  signer: TronSigner;
}

const TRIED_MAX = 16;
/** Endpoints that agree may be behind those that named the final block, by so many blocks: a minute. */
export const BEHIND_MAX = 20n;

type Transfers = Extract<PrecheckRequest, { kind: 'transfers' }>;

/**
 * What a wallet needs before its transactions are signed. Without TRX or energy one would be in a block, burn what there is and fail; so
 * would one that the token refuses.
 *
 * @throws ChainUnavailable, UnbuildableTransfer, FeeCeilingReached
 */
export async function precheck(context: PrecheckContext, request: PrecheckRequest): Promise<Precheck> {
  const { network, node, feed, wallets, prices } = context;
  if (request.kind === 'sweeps')
    throw new UnbuildableTransfer('each deposit address sends its own coins on this network');
  const token = network.tokens[request.asset]?.contract;
  if (token === undefined) throw new UnbuildableTransfer(`${network.name} has no ${request.asset}`);
  const index = depositIndexOf(request.keyRef ?? 'hot');
  const sender = index === null ? wallets.hot : wallets.deposit(index);
  // Before anything is read of the wallets.
  const { final } = await feed.snapshot();
  const { reverting, energies } = await tryTransfers(context, { request, token, sender });
  const { energy: price, bandwidth } = await prices.read();
  let energy = await readEnergy(node, sender);
  const fees = energies.map((one) => {
    const limit = limitFor(network, { energy: one, use: index === null ? 'transfer' : 'sweep', price });
    const own = energy * price < limit ? energy * price : limit;
    energy -= own / price;
    return limit - own + TRANSFER_BANDWIDTH * bandwidth;
  });
  const refused =
    reverting.size === 0 ? null : await findRefusal(context, { token, sender, asset: request.asset });
  return {
    refused,
    unpayable: new Set(),
    reverting,
    fees,
    native: await readFinalTrx(node, sender),
    asOf: final.height - BEHIND_MAX,
    allowance: null,
    isDelegateMissing: false,
    movementFees: { gas: MOVEMENT_SUN, approve: 0n, deploy: 0n },
    tank: {
      address: wallets.resource,
      native: await readFinalTrx(node, wallets.resource),
      nextSequence: null,
      ...(await readTankLimits(context.signer.tronLimits())),
    },
    paidByTank: null,
  };
}

/**
 * What calls may use, null where that is not known, and which of them revert, by two endpoints' word, or that of the operator's own. The
 * first ones stand for the others: each is tried again when it is signed.
 */
async function tryTransfers(
  { node }: PrecheckContext,
  { request, token, sender }: { request: Transfers; token: string; sender: string },
) {
  // An address that cannot be read is refused when its payment is built, and fails alone.
  const items = request.transactions.map(([item], i) =>
    item !== undefined && i < TRIED_MAX && checkTrc20Address(item.to).ok ? item : undefined,
  );
  const calls = items.flatMap((item) =>
    item === undefined
      ? []
      : [{ item, fields: constantCall(sender, token, transferCall(item.to, item.amount)) }],
  );
  const ask = (view: 'head' | 'solid', some: typeof calls) =>
    some.map(({ fields }) => ({ method: ofView(view, 'triggerconstantcontract'), params: [fields] }));
  const answers = (await node.callMany(ask('head', calls))).map(
    (one) => tryRead(() => readConstantResult(readResult(one))) ?? UNKNOWN_CALL,
  );
  const doubtful = calls.filter((_, i) => answers[i]?.data === undefined);
  const agreed = await node.agreedMany(ask('solid', doubtful));
  const reverting = new Set(
    doubtful.flatMap(({ item }, i) =>
      readConstantResult(readResult(agreed[i])).data === undefined ? [item.itemId] : [],
    ),
  );
  const byItem = new Map(calls.map(({ item }, i) => [item, answers[i]]));
  const energies = items.map((item): bigint | null => {
    const found = item && byItem.get(item);
    return found?.data === undefined ? null : found.energy;
  });
  return { reverting, energies };
}

interface TokenQuestion {
  token: string;
  asset: Asset;
  sender: string;
  /** That moves its coins. USDT does not look at it. */
  contract?: string;
}

/** Why a token refuses whatever this wallet pays; null where it does not say. */
export async function findRefusal(
  { node }: Pick<PrecheckContext, 'node'>,
  { token, sender, asset, contract }: TokenQuestion,
): Promise<Precheck['refused']> {
  const isAsked = asset === 'USDC' && contract !== undefined;
  const questions = [
    ['token_paused', PAUSED],
    ['sender_blacklisted', flagCall(BLACKLIST[asset], sender)],
    ...(isAsked ? [['contract_blacklisted', flagCall(BLACKLIST[asset], contract)] as const] : []),
  ] as const;
  const method = ofView('solid', 'triggerconstantcontract');
  const answers = await node.agreedMany(
    questions.map(([, data]) => ({ method, params: [constantCall(sender, token, data)] })),
  );
  // A token without such a function reverts, or says nothing.
  const isYes = (i: number) => /^0{63}1$/.test(readConstantResult(readResult(answers[i])).data ?? '');
  return questions.find((_, i) => isYes(i))?.[0] ?? null;
}
