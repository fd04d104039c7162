import { NodeError } from '../rpc/node.ts';
import { ofView, type TronNode } from './node.ts';
import {
  isNothing,
  orUnavailable,
  readList,
  readNumber,
  readRecord,
  readResult,
  tryRead,
  unusable,
} from './node-answers.ts';

// What an account can pay fees with.

export const accountFields = (address: string) => [{ address, visible: true }];

/** In sun. */
export interface Holdings {
  trx: bigint;
  /** Staked for energy, at its own disposal; and what of its stake others have. */
  staked: bigint;
  lent: bigint;
}

/**
 * As of that final block or a later one, where two endpoints agree: who shows too little would have TRX moved again and again. What
 * is in no block up to it is counted by whoever asks.
 *
 * @throws ChainUnavailable
 */
export async function readFinalHoldings(node: TronNode, address: string, height: bigint): Promise<Holdings> {
  const request = { method: ofView('solid', 'getaccount'), params: accountFields(address) };
  const [answer] = await node.agreedFrom({ view: 'solid', height }, [request]);
  return holdingsOf(readResult(answer), address);
}

/** As of the newest block; by one endpoint's word. @throws ChainUnavailable */
export async function readHoldings(node: TronNode, address: string): Promise<Holdings> {
  const call = node.call(ofView('head', 'getaccount'), accountFields(address));
  return holdingsOf(await orUnavailable(call), address);
}

function holdingsOf(account: unknown, address: string): Holdings {
  const trx = readBalance(account, address);
  if (isNothing(account)) return { trx, staked: 0n, lent: 0n };
  const { frozenV2: frozen, account_resource: resource } = readRecord(account, 'an account');
  const staked = readList(frozen ?? [], 'the stake of an account')
    .map((one) => readRecord(one, 'a stake'))
    .filter(({ type }) => type === 'ENERGY')
    .reduce((sum, { amount }) => sum + readNumber(amount, 'a stake'), 0n);
  const { delegated_frozenV2_balance_for_energy: lent } = readRecord(resource ?? {}, 'what an account lends');
  return { trx, staked, lent: readNumber(lent, 'what an account lends') };
}

/** As `readHoldings`, in sun. */
export const readTrx = async (...of: Parameters<typeof readHoldings>): Promise<bigint> =>
  (await readHoldings(...of)).trx;

/** As `readFinalHoldings`, in sun. */
export const readFinalTrx = async (...of: Parameters<typeof readFinalHoldings>): Promise<bigint> =>
  (await readFinalHoldings(...of)).trx;

function readBalance(answer: unknown, address: string): bigint {
  if (isNothing(answer)) return 0n;
  const account = readRecord(answer, 'an account');
  if (account.address !== address) throw unusable('a node answers with another account');
  return readNumber(account.balance, 'a balance');
}

/** What an account has of its own and has not used, or was lent. */
export interface Resources {
  energy: bigint;
  /** Bytes of one transaction that cost it nothing: staked for, or those of each day. The two are not added up. */
  bandwidth: bigint;
}

const NONE: Resources = { energy: 0n, bandwidth: 0n };

/**
 * The least that an endpoint shows which has reached that block: one that is behind lacks what was lent by then, and sweeps would be given
 * coins besides. It comes back by the second, so that no two show the same. An answer that cannot be read is none: one endpoint alone could
 * hold all payments.
 *
 * @throws ChainUnavailable
 */
export async function readResources(node: TronNode, address: string, height: bigint): Promise<Resources> {
  const request = { method: ofView('head', 'getaccountresource'), params: accountFields(address) };
  const answers = (await node.witnessesFrom({ view: 'head', height }, [request])).flat();
  const left = answers.flatMap((answer) =>
    answer instanceof NodeError ? [] : (tryRead(() => leftOf(answer)) ?? []),
  );
  return left.reduce(
    (least, one) => ({
      energy: smaller(least.energy, one.energy),
      bandwidth: smaller(least.bandwidth, one.bandwidth),
    }),
    left[0] ?? NONE,
  );
}

function leftOf(answer: unknown): Resources {
  const fields = readRecord(answer, 'the resources of an account');
  const left = (limit: string, used: string) => {
    const rest = readNumber(fields[limit], limit) - readNumber(fields[used], used);
    return rest > 0n ? rest : 0n;
  };
  const staked = left('NetLimit', 'NetUsed');
  const free = left('freeNetLimit', 'freeNetUsed');
  return { energy: left('EnergyLimit', 'EnergyUsed'), bandwidth: staked > free ? staked : free };
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
