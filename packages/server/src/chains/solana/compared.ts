import { digestOf } from '../rpc/compared.ts';

// What two nodes must agree on. They answer as of different slots, and versions of the node add fields of their own: only what
// is used is compared.

type View = (answer: unknown) => unknown;

const STATUS = ['slot', 'err', 'confirmationStatus'];
const LISTED = ['signature', 'slot', 'err'];
const BLOCK = ['blockhash', 'parentSlot', 'blockHeight'];
const META = ['err', 'fee', 'preTokenBalances', 'postTokenBalances', 'innerInstructions', 'loadedAddresses'];

const VIEWS: Record<string, View> = {
  getMultipleAccounts: (answer) => each(valueIn(answer), (one) => fields(one, ['data', 'owner'])),
  isBlockhashValid: valueIn,
  getSignatureStatuses: (answer) => each(valueIn(answer), (one) => fields(one, STATUS)),
  getBlock: (answer) => fields(answer, BLOCK),
  getTransaction: transaction,
  // Two endpoints that have reached a slot are never as far as each other: that they answer is what counts.
  getBlockHeight: () => 'reached',
};

/** Two answers to the same call agree when this text is the same. */
export function comparedText(method: string, answer: unknown, params: readonly unknown[] = []): string {
  if (method === 'getSignaturesForAddress') return digestOf(listedUpTo(answer, params));
  return digestOf((VIEWS[method] ?? ((whole: unknown) => whole))(answer));
}

/** Nodes list what is above the slot that they were asked to have reached, each as far as it is. */
function listedUpTo(answer: unknown, [, config]: readonly unknown[]): unknown {
  if (!Array.isArray(answer)) return answer;
  const most = isObject(config) ? Number(config.minContextSlot) : Number.NaN;
  const isAbove = (one: unknown) => isObject(one) && Number(one.slot) > most;
  return answer.filter((one) => !isAbove(one)).map((one: unknown) => fields(one, LISTED));
}

function transaction(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  return [answer.slot ?? null, answer.transaction ?? null, fields(answer.meta, META)];
}

function valueIn(answer: unknown): unknown {
  return isObject(answer) ? answer.value : answer;
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
