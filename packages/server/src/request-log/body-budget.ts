import type { RequestLogRow } from './tables.ts';

/** Of the bodies of a merchant in a day, for each process: 30 days of them are a large disk already. */
const BODIES_PER_DAY = 2 ** 30;
const DAY_MS = 86_400_000;
const TOO_MANY_REQUESTS = 429;

type Bodies = Pick<RequestLogRow, 'merchant_id' | 'status' | 'request_body' | 'answer_body'>;

/** What the bodies of each merchant may take. Who sends more keeps its rows, without their bodies. */
export class BodyBudget {
  readonly #perDay: number;
  readonly #used = new Map<string, number>();
  #day = 0;

  constructor(perDay = BODIES_PER_DAY) {
    this.#perDay = perDay;
  }

  hasRoom(
    { merchant_id: merchantId, status, request_body: body, answer_body: answer }: Bodies,
    nowMs: number,
  ) {
    // It was refused unread, because its caller sends too much.
    if (status === TOO_MANY_REQUESTS) return false;
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) this.#used.clear();
    this.#day = day;
    const used = (this.#used.get(merchantId) ?? 0) + (body?.length ?? 0) + (answer?.length ?? 0);
    if (used > this.#perDay) return false;
    this.#used.set(merchantId, used);
    return true;
  }
}

export const withoutBodies = (row: RequestLogRow): RequestLogRow => ({
  ...row,
  request_body: null,
  answer_body: null,
});
