import { digestOf } from '../rpc/compared.ts';

// What two nodes must agree on. Versions of the node add fields of their own: only what is used is compared.

type View = (answer: unknown) => unknown;

const INFO = ['id', 'blockNumber', 'blockTimeStamp', 'fee', 'result', 'contract_address'];
const LOG = ['address', 'topics', 'data'];

const VIEWS: Record<string, View> = {
  getblock: (answer) =>
    isObject(answer)
      ? [
          fields(answer, ['blockID', 'block_header']),
          each(answer.transactions ?? [], (one) => fields(one, ['txID'])),
        ]
      : answer,
  gettransactioninfobyid: info,
  gettransactioninfobyblocknum: (answer) => each(answer, info),
  triggerconstantcontract: (answer) =>
    isObject(answer) ? [answer.result ?? null, answer.constant_result ?? null] : answer,
};

/** Two answers to the same call agree when this text is the same. */
export function comparedText(method: string, answer: unknown): string {
  const [, call = ''] = method.split('/');
  return digestOf((VIEWS[call] ?? ((whole: unknown) => whole))(answer));
}

function info(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  const receipt = isObject(answer.receipt) ? answer.receipt : {};
  return [fields(answer, INFO), receipt.result ?? null, each(answer.log ?? [], (log) => fields(log, LOG))];
}

function each(answer: unknown, view: View): unknown {
  return Array.isArray(answer) ? answer.map(view) : answer;
}

/** An absent field and one that is null are the same. */
function fields(answer: unknown, names: readonly string[]): unknown {
  return isObject(answer) ? names.map((name) => answer[name] ?? null) : answer;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
