import type { Broadcast } from '../port/port.ts';

/**
 * Ways in which a node lies or fails during a broadcast; each answers one broadcast. Their comments name first what happens
 * to the transaction, then what the caller gets.
 */
export type NodeFault =
  /** Lost, and the answer is `accepted`. */
  | 'drop'
  /** Accepted, and the caller gets no answer. */
  | 'accept_then_timeout'
  /** Lost, and the caller gets no answer. */
  | 'timeout_dropped'
  /** Accepted, and the answer is a rejection that seems final. */
  | 'say_expired'
  | 'say_nonce_too_low'
  /** Accepted, and the answer is `known` as if it were a repetition. */
  | 'say_already_known'
  /** Lost, with an undocumented error code. */
  | 'unknown_code'
  /** Accepted, and the answer is a proxy's HTML page. */
  | 'garbage';

/** The node silently omits one transfer from the next scan of that level that finds any. */
export type ScanFault = 'lose_final_log' | 'lose_tip_log';

export interface FaultEffect {
  /** Whether the node accepts the transaction. */
  accepts: boolean;
  /** The answer that the caller gets; a string is the reason of a missing answer. */
  answer: Broadcast | string;
}

const NODE_FAULTS: Readonly<Record<NodeFault, FaultEffect>> = {
  drop: { accepts: false, answer: { result: 'accepted' } },
  accept_then_timeout: { accepts: true, answer: 'the node did not answer in time' },
  timeout_dropped: { accepts: false, answer: 'the node did not answer in time' },
  say_expired: {
    accepts: true,
    answer: { result: 'rejected', code: 'transaction_expired', retryable: false },
  },
  say_nonce_too_low: {
    accepts: true,
    answer: { result: 'rejected', code: 'nonce_too_low', retryable: false },
  },
  say_already_known: { accepts: true, answer: { result: 'known' } },
  unknown_code: { accepts: false, answer: { result: 'rejected', code: '-32099', retryable: true } },
  garbage: { accepts: true, answer: 'the answer was no JSON' },
};

function isNodeFault(text: string): text is NodeFault {
  return Object.hasOwn(NODE_FAULTS, text);
}

interface TakenFaults {
  /** By the index of the broadcast; without an entry the node is honest. */
  effects: (FaultEffect | undefined)[];
  drop_next: number;
  faults: string[];
}

/** Takes the next queued faults, at most one per broadcast, and returns the rest of the queue. */
export function takeFaults(
  row: { drop_next: number; faults: readonly string[] },
  broadcasts: number,
): TakenFaults {
  const dropped = Math.min(row.drop_next, broadcasts);
  const lies = row.faults.filter(isNodeFault).slice(0, broadcasts - dropped);
  const faults = [...row.faults];
  for (const lie of lies) faults.splice(faults.indexOf(lie), 1);
  const effects = [
    ...Array<FaultEffect>(dropped).fill(NODE_FAULTS.drop),
    ...lies.map((lie) => NODE_FAULTS[lie]),
  ];
  return { effects, drop_next: row.drop_next - dropped, faults };
}
