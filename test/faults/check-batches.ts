import type { Finding, Query } from './checker.ts';
import type { GoodClient } from './good-client.ts';

/** The allowed moves of a batch, written down a second time on purpose. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  '': ['draft'],
  draft: ['needs_fix', 'pending_approval', 'pending', 'canceled'],
  needs_fix: ['needs_fix', 'pending_approval', 'pending', 'canceled'],
  pending_approval: ['pending', 'rejected', 'canceled'],
  pending: ['processing', 'canceled'],
  processing: ['processing', 'completed', 'partially_completed', 'failed'],
  // What a reorganisation took for good and people gave back changes the counts of a batch that is over, and nothing else.
  completed: ['completed'],
  partially_completed: ['partially_completed'],
};
const FINAL = ['completed', 'partially_completed', 'failed', 'canceled', 'rejected'];
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The text of an id behind its prefix: 128 bits as 26 digits of five bits. */
export function idText(uuid: string): string {
  let value = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = `${DIGITS[Number(value & 31n)]}${text}`;
    value >>= 5n;
  }
  return text;
}

const publicId = (uuid: string) => `pb_${idText(uuid)}`;

const BATCHES = `select batch_id, idempotency_key, status, submitted_at from payout_batch where merchant_id = $1`;
interface BatchRow {
  batch_id: string;
  idempotency_key: string;
  status: string;
  submitted_at: string | null;
}

/** I4, I5: one batch for each key, the one that every answer named; what was acknowledged stands. */
export async function checkBatches(query: Query, client: GoodClient): Promise<Finding[]> {
  const findings: Finding[] = [];
  const rows = await query<BatchRow>(BATCHES, [client.merchantId]);
  const byId = new Map(rows.map((row) => [publicId(row.batch_id), row]));
  for (const [key, own] of Map.groupBy(rows, (row) => row.idempotency_key)) {
    if (own.length > 1) findings.push({ invariant: 'I4', what: `${own.length} batches of the key ${key}` });
  }
  for (const [key, ids] of client.idsByKey) {
    if (ids.size > 1)
      findings.push({ invariant: 'I4', what: `answers for ${key} named ${[...ids].join(', ')}` });
    for (const id of ids) if (!byId.has(id)) findings.push({ invariant: 'I5', what: `${id} is lost` });
  }
  for (const id of client.submitted) {
    if ((byId.get(id)?.submitted_at ?? null) === null) {
      findings.push({ invariant: 'I5', what: `the submit of ${id} is lost` });
    }
  }
  for (const id of client.canceled) {
    if (byId.get(id)?.status !== 'canceled') {
      findings.push({ invariant: 'I5', what: `the cancellation of ${id} is lost` });
    }
  }
  return [...findings, ...checkShown(client, byId)];
}

/** I5, I7: an end that somebody was shown is the end. */
function checkShown(client: GoodClient, byId: ReadonlyMap<string, BatchRow>): Finding[] {
  const shown = client.exchanges.flatMap(({ status, answer }) =>
    status === 200 && typeof answer.batch_id === 'string' && FINAL.includes(String(answer.status))
      ? [{ id: answer.batch_id, status: String(answer.status) }]
      : [],
  );
  return shown.flatMap(({ id, status }) => {
    const now = byId.get(id)?.status;
    return now === status ? [] : [{ invariant: 'I7', what: `${id} was shown as ${status} and is ${now}` }];
  });
}

const EVENTS = `
  select e.resource, e.sequence::int, e.body, s.sequence::int as last from event e
  join event_sequence s using (merchant_id, resource) order by e.resource, e.sequence`;
interface EventRow {
  resource: string;
  sequence: number;
  body: string;
  last: number;
}
const STATES = `
  select batch_id, status, success_count, failed_count, submitted_at, completed_at from payout_batch`;
interface StateRow {
  batch_id: string;
  status: string;
  success_count: number;
  failed_count: number;
  submitted_at: string | null;
  completed_at: string | null;
}

/** I6, I7: news without gaps, one for each allowed move, the last of which is the state as it is. */
export async function checkEvents(query: Query): Promise<Finding[]> {
  const findings: Finding[] = [];
  const events = Map.groupBy(await query<EventRow>(EVENTS), (event) => event.resource);
  for (const state of await query<StateRow>(STATES)) {
    const id = publicId(state.batch_id);
    findings.push(...checkHistory(id, state, events.get(id) ?? []));
  }
  return findings;
}

function checkHistory(id: string, state: StateRow, events: readonly EventRow[]): Finding[] {
  const findings: Finding[] = [];
  let before = '';
  for (const [i, { sequence, body }] of events.entries()) {
    const event = JSON.parse(body);
    const { status } = event.data.object;
    if (sequence !== i + 1 || event.sequence !== i + 1) {
      findings.push({ invariant: 'I6', what: `event ${sequence} of ${id} stands at place ${i + 1}` });
    }
    if (MOVES[before]?.includes(status) !== true) {
      findings.push({ invariant: 'I7', what: `${id} went from ${before || 'nothing'} to ${status}` });
    }
    before = status;
  }
  const last = events.at(-1);
  if (last === undefined || last.last !== events.length) {
    return [
      ...findings,
      { invariant: 'I6', what: `${id} has ${events.length} events of ${last?.last ?? 0}` },
    ];
  }
  const told = JSON.parse(last.body).data.object as Record<string, string | number | null>;
  const text = (value: string | number | null | undefined) => String(value ?? '');
  for (const field of ['status', 'success_count', 'failed_count', 'submitted_at', 'completed_at'] as const) {
    if (text(told[field]) === text(state[field])) continue;
    const what = `${field} of ${id} is ${text(state[field])}, its last event says ${text(told[field])}`;
    findings.push({ invariant: 'I6', what });
  }
  return findings;
}
