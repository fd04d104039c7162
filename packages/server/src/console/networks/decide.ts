// Who may resume a network of real money in the console, without I/O: two operators, who have looked at the same stops.

/** How long a request waits for somebody else. */
const REQUEST_MS = 24 * 3_600_000;

export interface ResumeRequest {
  requestId: string;
  requestedBy: string;
  reason: string;
  /** Digest of the stops that were looked at. */
  seen: string;
  createdAtMs: number;
}

/**
 * `open`: another operator can confirm it. `changed`: the network stopped again since. `expired`: nobody has confirmed it
 * within a day, or it was made under a clock that was ahead. `void`: who made it is no operator any more.
 */
export type RequestStatus = 'open' | 'changed' | 'expired' | 'void';

/** What holds at the moment of a decision. */
export interface Present {
  /** Digest of the stops as they are. */
  seen: string;
  operators: ReadonlySet<string>;
  nowMs: number;
}

export const expiresAtMsOf = ({ createdAtMs }: Pick<ResumeRequest, 'createdAtMs'>) =>
  createdAtMs + REQUEST_MS;

export function statusOf(request: ResumeRequest, { seen, operators, nowMs }: Present): RequestStatus {
  if (request.seen !== seen) return 'changed';
  // A minute is what clocks of nodes may differ by.
  if (nowMs >= expiresAtMsOf(request) || request.createdAtMs > nowMs + 60_000) return 'expired';
  return operators.has(request.requestedBy) ? 'open' : 'void';
}

const LOOK_AGAIN = 'Look at it again.';
const WHY_OVER: Readonly<Record<Exclude<RequestStatus, 'open'>, string>> = {
  changed: `The network has stopped again since this was asked. ${LOOK_AGAIN}`,
  expired: `This was asked more than a day ago. ${LOOK_AGAIN}`,
  void: `Who asked for this is no operator any more. ${LOOK_AGAIN}`,
};

/** Why somebody may not confirm what another one asked for; undefined: they may. */
export function refusalOf(
  request: ResumeRequest | undefined,
  { requestId, userId, seen }: { requestId: string; userId: string; seen: string },
  present: Present,
): string | undefined {
  if (request === undefined || request.requestId !== requestId)
    return `This request is over: it was confirmed or withdrawn, or another one was made. ${LOOK_AGAIN}`;
  const status = statusOf(request, present);
  if (status !== 'open') return WHY_OVER[status];
  if (seen !== present.seen) return `The network has stopped again since you looked. ${LOOK_AGAIN}`;
  if (request.requestedBy === userId) return 'Another operator has to confirm what you asked for.';
  return present.operators.has(userId) ? undefined : 'You are no operator any more.';
}
