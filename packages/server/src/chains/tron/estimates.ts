import type { NodeRequest } from '../rpc/node.ts';
import { type constantCall, readConstantResult, UNKNOWN_CALL } from './contract-call.ts';
import { ofView, type TronNode } from './node.ts';
import { orUnavailable, readResult, tryRead } from './node-answers.ts';

/** Two endpoints are of one opinion where the dearer one says at most so much more. */
const NEAR_PERCENT = 25n;
const TRY = ofView('head', 'triggerconstantcontract');

/** What is known of a call before it is sent. */
export interface Estimate {
  /** Null: it is not known. */
  energy: bigint | null;
  /** Somebody says that it reverts, or says nothing: whether it does is to be asked. */
  isDoubtful: boolean;
}

export type CallFields = ReturnType<typeof constantCall>;

/** A call as it is tried. */
export const tryRequest = (fields: CallFields): NodeRequest => ({ method: TRY, params: [fields] });

/** What a call answers as of the newest block, by one endpoint's word. @throws ChainUnavailable */
export const tryCall = async (node: TronNode, fields: CallFields): Promise<unknown> =>
  await orUnavailable(node.call(TRY, [fields]));

/**
 * Calls as of the newest block, by the operator's own node or by two endpoints: fee limits and top-ups follow what they use, so that one
 * alone could have transactions burn their fee, or nothing sent.
 *
 * @param height endpoints that are behind this block are not asked
 * @throws ChainUnavailable
 */
export async function estimateCalls(
  node: TronNode,
  height: bigint,
  calls: readonly CallFields[],
): Promise<Estimate[]> {
  if (calls.length === 0) return [];
  const witnesses = await node.witnessesFrom({ view: 'head', height }, calls.map(tryRequest));
  return calls.map((_, i) => {
    const tried = witnesses.map((answers) => readTried(answers[i]));
    return {
      energy: settledEnergy(tried.map(({ data, energy }) => (data === undefined ? null : energy))),
      isDoubtful: tried.some(({ data }) => data === undefined),
    };
  });
}

/** Of each call, as of that block or a later one, by two endpoints' word, or that of the operator's own: one alone could hold all payments. */
export async function areReverting(
  node: TronNode,
  height: bigint,
  calls: readonly CallFields[],
): Promise<boolean[]> {
  const requests = calls.map((fields) => ({
    method: ofView('solid', 'triggerconstantcontract'),
    params: [fields],
  }));
  const agreed = await node.agreedFrom({ view: 'solid', height }, requests);
  return calls.map((_, i) => readConstantResult(readResult(agreed[i])).data === undefined);
}

/** As `areReverting`, of one call. */
export async function isReverting(node: TronNode, fields: CallFields, height: bigint): Promise<boolean> {
  const [isOne] = await areReverting(node, height, [fields]);
  return isOne === true;
}

/** Whether a call passes as of the newest block: two endpoints say the same, or the operator's own does. @throws ChainUnavailable */
export async function isTaken(node: TronNode, fields: CallFields, height: bigint): Promise<boolean> {
  const [answer] = await node.agreedFrom({ view: 'head', height }, [tryRequest(fields)]);
  return readTried(answer).data !== undefined;
}

/** An answer that cannot be read is that of a call of which nothing is known. */
export const readTried = (answer: unknown) =>
  tryRead(() => readConstantResult(readResult(answer))) ?? UNKNOWN_CALL;

/**
 * One answer (the operator's own node) is taken as it is. Of several, the highest that is at most `NEAR_PERCENT` above another; null if there
 * is none.
 */
export function settledEnergy(told: readonly (bigint | null)[]): bigint | null {
  const [only = null] = told;
  if (told.length === 1) return only;
  const falling = told.filter((one) => one !== null).sort((a, b) => (a < b ? 1 : -1));
  const isNear = (more: bigint, less = -1n) => more * 100n <= less * (100n + NEAR_PERCENT);
  return falling.find((one, i) => isNear(one, falling[i + 1])) ?? null;
}
