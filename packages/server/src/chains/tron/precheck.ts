import type { Asset } from '@florin/contract/money';
import { largestOf, totalOf } from '../../platform/amounts.ts';
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
} from './contract-call.ts';
import { areReverting, estimateCalls } from './estimates.ts';
import type { TronFeed } from './feed.ts';
import { limitFor, MOVEMENT_SUN, type PriceList, TRANSFER_BANDWIDTH } from './fees.ts';
import { readLending } from './lending.ts';
import type { TronNetwork } from './network.ts';
import { ofView, type TronNode } from './node.ts';
import { readResult } from './node-answers.ts';
import type { TronWallets } from './reader.ts';
import { readFinalHoldings, readFinalTrx, readResources } from './resources.ts';
import type { TronSigner } from './signing.ts';
import type { TransferTrials } from './transfer-trials.ts';

export interface PrecheckContext {
  network: TronNetwork;
  node: TronNode;
  feed: TronFeed;
  wallets: TronWallets;
  prices: PriceList;
  signer: TronSigner;
}

interface TransfersContext extends PrecheckContext {
  trials: TransferTrials;
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
export async function precheck(context: TransfersContext, request: PrecheckRequest): Promise<Precheck> {
  const { network, node, feed, wallets, prices } = context;
  if (request.kind === 'sweeps')
    throw new UnbuildableTransfer('each deposit address sends its own coins on this network');
  const token = network.tokens[request.asset]?.contract;
  if (token === undefined) throw new UnbuildableTransfer(`${network.name} has no ${request.asset}`);
  const index = depositIndexOf(request.keyRef ?? 'hot');
  const sender = index === null ? wallets.hot : wallets.deposit(index);
  // Before anything is read of the wallets.
  const { final } = await feed.snapshot();
  const { reverting, energies } = await tryTransfers(context, {
    request,
    token,
    sender,
    height: final.height,
  });
  const known = await prices.read();
  const { energy: price, bandwidth } = known;
  const coins = TRANSFER_BANDWIDTH * bandwidth;
  let { energy } = await readResources(node, sender, final.height);
  const limits = energies.map((one) =>
    limitFor(network, { energy: one, use: index === null ? 'transfer' : 'sweep', price }),
  );
  const fees = limits.map((limit) => {
    const own = energy * price < limit ? energy * price : limit;
    energy -= own / price;
    return limit - own + coins;
  });
  const allCoins = coins * BigInt(fees.length);
  const asOf = final.height - BEHIND_MAX;
  const tank = wallets.resource;
  const holdings = await readFinalHoldings(node, tank, asOf);
  const lending =
    index === null
      ? undefined
      : await readLending(node, {
          tank,
          holdings,
          to: { keyRef: `deposit:${index}`, address: sender },
          energy: (totalOf(fees) - allCoins) / price,
          coins: allCoins,
          prices: known,
          asOf,
          final,
        });
  const refused =
    reverting.size === 0
      ? null
      : await findRefusal(context, { token, sender, asset: request.asset, height: final.height });
  return {
    refused,
    unpayable: new Set(),
    reverting,
    fees,
    dearest: largestOf(limits) + coins,
    native: await readFinalTrx(node, sender, asOf),
    asOf,
    allowance: null,
    isDelegateMissing: false,
    movementFees: { gas: MOVEMENT_SUN, approve: 0n, deploy: 0n },
    tank: {
      address: tank,
      native: holdings.trx,
      nextSequence: null,
      ...(holdings.lent > 0n && { lent: holdings.lent }),
      ...(await readTankLimits(context.signer.tronLimits())),
    },
    ...(lending !== undefined && { lending }),
    paidByTank: null,
  };
}

interface Tried {
  request: Transfers;
  token: string;
  sender: string;
  height: bigint;
}

/**
 * What calls may use, null where that is not known, and which of them revert, by two endpoints' word, or that of the operator's own. One trial
 * stands for all where it can; else the first ones stand for the others, and each is tried again when it is signed.
 */
async function tryTransfers({ node, trials }: TransfersContext, tried: Tried) {
  const { request, token, sender, height } = tried;
  const amounts = request.transactions.flatMap(([item]) => item?.amount ?? []);
  const trial = { asset: request.asset, contract: token, sender, amount: largestOf(amounts), height };
  const ofAll =
    depositIndexOf(request.keyRef ?? 'hot') === null ? await trials.tryAnew(node, trial) : undefined;
  if (ofAll !== undefined)
    return { reverting: new Set<string>(), energies: request.transactions.map(() => ofAll) };
  // An address that cannot be read is refused when its payment is built, and fails alone.
  const items = request.transactions.map(([item], i) =>
    item !== undefined && i < TRIED_MAX && checkTrc20Address(item.to).ok ? item : undefined,
  );
  const calls = items.flatMap((item) =>
    item === undefined
      ? []
      : [{ item, fields: constantCall(sender, token, transferCall(item.to, item.amount)) }],
  );
  const estimates = await estimateCalls(
    node,
    height,
    calls.map(({ fields }) => fields),
  );
  const doubtful = calls.filter((_, i) => estimates[i]?.isDoubtful !== false);
  const isReverting = await areReverting(
    node,
    height,
    doubtful.map(({ fields }) => fields),
  );
  const reverting = new Set(doubtful.flatMap(({ item }, i) => (isReverting[i] ? [item.itemId] : [])));
  const byItem = new Map(calls.map(({ item }, i) => [item, estimates[i]]));
  const energies = items.map((item) => (item && byItem.get(item)?.energy) ?? null);
  return { reverting, energies };
}

interface TokenQuestion {
  token: string;
  asset: Asset;
  sender: string;
  /** That moves its coins. USDT does not look at it. */
  contract?: string;
  /** A final block, which endpoints that are asked have reached. */
  height: bigint;
}

/**
 * Why a token refuses whatever this wallet pays, in that block or a later one; null where it does not say. An older state would make what we
 * are refused its payers' fault.
 */
export async function findRefusal(
  { node }: Pick<PrecheckContext, 'node'>,
  { token, sender, asset, contract, height }: TokenQuestion,
): Promise<Precheck['refused']> {
  const isAsked = asset === 'USDC' && contract !== undefined;
  const questions = [
    ['token_paused', PAUSED],
    ['sender_blacklisted', flagCall(BLACKLIST[asset], sender)],
    ...(isAsked ? [['contract_blacklisted', flagCall(BLACKLIST[asset], contract)] as const] : []),
  ] as const;
  const method = ofView('solid', 'triggerconstantcontract');
  const answers = await node.agreedFrom(
    { view: 'solid', height },
    questions.map(([, data]) => ({ method, params: [constantCall(sender, token, data)] })),
  );
  // A token without such a function reverts, or says nothing.
  const isYes = (i: number) => /^0{63}1$/.test(readConstantResult(readResult(answers[i])).data ?? '');
  return questions.find((_, i) => isYes(i))?.[0] ?? null;
}
