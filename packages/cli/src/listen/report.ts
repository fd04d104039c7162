import type { RecordedEvent, WebhookEvent } from '@florin/sdk';
import { cell } from '../table.ts';
import type { Outcome } from './forward.ts';

/** The id of the resource, from its own id field. */
function resourceOf({ data }: WebhookEvent): string {
  const { id, batch_id, refund_id }: { id?: string; batch_id?: string; refund_id?: string } = data.object;
  return [id, batch_id, refund_id].find((name) => typeof name === 'string') ?? '';
}

export function outcomeText({ status, failure, durationMs, answer }: Outcome): string {
  const said = answer === null || answer === '' ? '' : `: ${cell(answer)}`;
  return `${status ?? `failed (${cell(failure)})`} in ${durationMs} ms${said}`;
}

/** One event on one line: as text with local time, or as JSON. */
export function eventLine(event: RecordedEvent, outcome: Outcome | undefined, json: boolean): string {
  const parsed: WebhookEvent = JSON.parse(event.body);
  const resource = resourceOf(parsed);
  if (json) {
    const { acknowledged, status, failure, durationMs, answer } = outcome ?? {};
    const forwarded = { acknowledged, status, failure, duration_ms: durationMs, answer };
    return JSON.stringify({
      event_id: event.id,
      type: event.type,
      resource,
      created: parsed.created,
      forwarded: outcome === undefined ? null : forwarded,
    });
  }
  const { object } = parsed.data;
  const status = 'status' in object ? object.status : undefined;
  const state = typeof status === 'string' ? ` (${cell(status)})` : '';
  const time = new Date().toTimeString().slice(0, 8);
  const end = outcome === undefined ? '' : `  → ${outcomeText(outcome)}`;
  return `${time}  ${event.type}  ${cell(resource)}${state}  ${event.id}${end}`;
}
