import { accountOfTron } from '@florin/signer/tron';
import {
  EndpointFailed,
  parseBody,
  type RpcAnswer,
  type RpcPatience,
  type RpcWire,
  withoutUrls,
} from '../rpc/messages.ts';
import { NodeError } from '../rpc/node.ts';
import { tokensByAccount } from './listed-tokens.ts';
import type { TronNetwork } from './network.ts';
import { reducerOf } from './reduced.ts';

/**
 * A transaction's logs may be of 38 million characters at most, by the most that a call may burn (15,000 TRX) and the price of 100 sun for
 * energy, of which a byte in a log takes 8.
 */
const INFO_MAX = 67_108_864;

/** Of answers that may be large, where they are asked for alone: 64 MiB in two minutes are 4.5 Mbit/s. */
const PATIENCE: Readonly<Record<string, RpcPatience>> = {
  gettransactioninfobyblocknum: { timeoutMs: 60_000, isDivisible: true },
  getblockbylimitnext: { timeoutMs: 30_000, isDivisible: true },
  gettransactioninfobyid: { timeoutMs: 120_000, isDivisible: false },
  // With its transactions: nothing smaller names them.
  getblock: { timeoutMs: 60_000, isDivisible: false },
};

/** Each call is a POST to a path of its own. */
export const TRON_HTTP: RpcWire = {
  takesBatches: false,
  takesErrorStatus: false,
  path: ([request]) => request?.method ?? '',
  write: ([request]) => JSON.stringify(request?.params[0] ?? {}),
  read: (body) => [readAnswer(parseBody(body))],
};

/** As `TRON_HTTP`; of the answers what is read of them is kept. */
export function tronWire(network: Pick<TronNetwork, 'tokens' | 'collector'>): RpcWire {
  const { collector } = network;
  const account = collector === null ? undefined : accountOfTron(collector).slice(2).toLowerCase();
  const reduce = reducerOf(tokensByAccount(network), account);
  return {
    ...TRON_HTTP,
    usesSolidUrl: ([request]) => request?.method.startsWith('walletsolidity/') === true,
    reduce: ({ method }, result) => reduce(method, result),
    patience: ({ method }) => PATIENCE[method.split('/')[1] ?? ''],
    answerMax: ({ method }) => (method.endsWith('/gettransactioninfobyid') ? INFO_MAX : undefined),
  };
}

/** A node that throws says so with status 200 and `{"Error": "class … : …"}`; what it does not have is `{}`. */
function readAnswer(answer: unknown): RpcAnswer {
  if (typeof answer !== 'object' || answer === null)
    throw new EndpointFailed('not_json', 'answered something else than an object');
  if (!('Error' in answer)) return { result: answer };
  const text = withoutUrls(String(answer.Error));
  if (/rate exceeded|too many requests|frequen/i.test(text))
    throw new EndpointFailed('busy', 'limits the rate of calls');
  return { refusal: new NodeError(0, text) };
}
