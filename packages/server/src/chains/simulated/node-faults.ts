import type { Broadcast } from '../port.ts';

/**
 * Ways in which a node lies or fails while a transaction is handed to it; each answers one broadcast. What becomes of
 * the transaction is the first half of the name's meaning, what the caller hears the second.
 */
export type NodeFault =
  /** Lost, and the answer is `accepted`. */
  | 'drop'
  /** Taken, and the caller hears nothing. */
  | 'accept_then_timeout'
  /** Lost, and the caller hears nothing. */
  | 'timeout_dropped'
  /** Taken, and the answer is a refusal that sounds final. */
  | 'say_expired'
  | 'say_nonce_too_low'
  /** Taken, and the answer is `known` as if it were a repetition. */
  | 'say_already_known'
  /** Lost, with an error code that nobody documented. */
  | 'unknown_code'
  /** Taken, and a proxy's HTML page comes back. */
  | 'garbage';

/** A node that leaves one transfer out of the next scan of that level that finds any, and says nothing of it. */
export type ScanFault = 'lose_final_log' | 'lose_tip_log';

export interface FaultEffect {
  /** Whether the node takes the transaction after all. */
  takes: boolean;
  /** What the caller hears; a text: no answer, for that reason. */
  says: Broadcast | string;
}

export const NODE_FAULTS: Readonly<Record<NodeFault, FaultEffect>> = {
  drop: { takes: false, says: { result: 'accepted' } },
  accept_then_timeout: { takes: true, says: 'the node did not answer in time' },
  timeout_dropped: { takes: false, says: 'the node did not answer in time' },
  say_expired: { takes: true, says: { result: 'rejected', code: 'transaction_expired', retryable: false } },
  say_nonce_too_low: { takes: true, says: { result: 'rejected', code: 'nonce_too_low', retryable: false } },
  say_already_known: { takes: true, says: { result: 'known' } },
  unknown_code: { takes: false, says: { result: 'rejected', code: '-32099', retryable: true } },
  garbage: { takes: true, says: 'the answer was no JSON' },
};

export function isNodeFault(text: string): text is NodeFault {
  return Object.hasOwn(NODE_FAULTS, text);
}
