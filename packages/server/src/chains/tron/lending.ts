import { largestOf } from '../../platform/amounts.ts';
import type { DepositKeyRef, Lending } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from '../rpc/node.ts';
import { LENDING_BANDWIDTH, type Prices } from './fees.ts';
import type { Header } from './headers.ts';
import { ofView, type TronNode } from './node.ts';
import {
  orUnavailable,
  readList,
  readNumber,
  readRecord,
  readResult,
  tryRead,
  unusable,
} from './node-answers.ts';
import { accountFields, type Holdings } from './resources.ts';

// Energy of TRX that the installation's wallet has staked, lent to deposit addresses (Stake 2.0): what is not locked can be taken back at
// any time, with what was used of it counted to the lender, where it comes back within a day.

const SUN = 1_000_000n;
/** Of stake in the numbers of the network. */
const ENERGY = 1;
/** The energy that a stake gives falls as others stake, until it is used. */
const MARGIN_PERCENT = 2n;

interface Asked {
  tank: string;
  holdings: Holdings;
  to: { keyRef: DepositKeyRef; address: string };
  /** That the address lacks. */
  energy: bigint;
  /** Of all its transactions, in sun. */
  coins: bigint;
  prices: Prices;
  asOf: bigint;
  /** That endpoints which are asked for it alone have reached. */
  final: Pick<Header, 'height' | 'timeMs'>;
}

/** @returns undefined where the wallet has no stake, or endpoints do not tell: sweeps go on, with coins */
export async function readLending(node: TronNode, asked: Asked): Promise<Lending | undefined> {
  const { tank, holdings, to, energy, coins, prices, asOf, final } = asked;
  if (holdings.staked === 0n && holdings.lent === 0n) return undefined;
  try {
    return {
      to: to.keyRef,
      staked: await readStakeFor(node, { tank, energy, height: final.height }),
      coins,
      available: holdings.staked === 0n ? 0n : await readAvailable(node, tank, final.height),
      lent:
        holdings.lent === 0n
          ? 0n
          : await readLent(node, { tank, to: to.address, height: asOf, timeMs: final.timeMs }),
      fee: LENDING_BANDWIDTH * prices.bandwidth,
    };
  } catch (error) {
    if (error instanceof ChainUnavailable) return undefined;
    throw error;
  }
}

/** What all endpoints say that have reached that block, where it can be read. */
async function readAll<T>(
  node: TronNode,
  height: bigint,
  request: Parameters<TronNode['everywhere']>[0],
  read: (fields: Record<string, unknown>) => T | undefined,
): Promise<T[]> {
  const answers = (await node.witnessesFrom({ view: 'head', height }, [request])).flat();
  return answers.flatMap((answer) => {
    if (answer instanceof NodeError) return [];
    return tryRead(() => read(readRecord(answer, 'an answer'))) ?? [];
  });
}

/** The stake that gives the energy, in sun of whole TRX, as the network counts stake. Endpoints differ: the largest answer holds. */
async function readStakeFor(
  node: TronNode,
  { tank, energy, height }: { tank: string; energy: bigint; height: bigint },
): Promise<bigint> {
  const request = { method: ofView('head', 'getaccountresource'), params: accountFields(tank) };
  const stakes = await readAll(node, height, request, (fields) => {
    const limit = readNumber(fields.TotalEnergyLimit, 'all energy');
    const weight = readNumber(fields.TotalEnergyWeight, 'all stake');
    return limit === 0n ? undefined : (energy * weight * (100n + MARGIN_PERCENT)) / (100n * limit) + 1n;
  });
  if (stakes.length === 0) throw new ChainUnavailable('trc20', 'no endpoint says what energy a stake gives');
  return largestOf(stakes) * SUN;
}

/** The least that an endpoint shows: what the wallet has used itself, or its borrowers, cannot be lent before it has come back. */
async function readAvailable(node: TronNode, tank: string, height: bigint): Promise<bigint> {
  const params = [{ owner_address: tank, type: ENERGY, visible: true }];
  const request = { method: ofView('head', 'getcandelegatedmaxsize'), params };
  const told = await readAll(node, height, request, ({ max_size: most }) =>
    readNumber(most, 'what can be lent'),
  );
  return told.reduce((least, one) => (one < least ? one : least), told[0] ?? 0n);
}

/** The addresses to which the wallet delegates stake, as of the newest block, by one endpoint's word; null where no endpoint lists them. */
export async function readBorrowers(node: TronNode, tank: string): Promise<string[] | null> {
  const params = [{ value: tank, visible: true }];
  try {
    const call = node.call(ofView('head', 'getdelegatedresourceaccountindexv2'), params);
    const { toAccounts: accounts } = readRecord(await orUnavailable(call), 'who has stake');
    return readList(accounts ?? [], 'who has stake').map((one) => {
      if (typeof one !== 'string') throw unusable('who has stake has no address');
      return one;
    });
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** What can be taken back. Somebody who holds the tank's key may have locked a loan until a time: the network gives none of that back before. */
async function readLent(
  node: TronNode,
  { tank, to, height, timeMs }: { tank: string; to: string; height: bigint; timeMs: bigint },
): Promise<bigint> {
  const params = [{ fromAddress: tank, toAddress: to, visible: true }];
  const request = { method: ofView('solid', 'getdelegatedresourcev2'), params };
  const [answer] = await node.agreedFrom({ view: 'solid', height }, [request]);
  const { delegatedResource: loans } = readRecord(readResult(answer), 'what is lent');
  return readList(loans ?? [], 'what is lent').reduce<bigint>((sum, loan) => {
    const { frozen_balance_for_energy: staked, expire_time_for_energy: lockedUntil } = readRecord(
      loan,
      'what is lent',
    );
    if (readNumber(lockedUntil, 'until when it is lent') > timeMs) return sum;
    return sum + readNumber(staked, 'what is lent');
  }, 0n);
}
