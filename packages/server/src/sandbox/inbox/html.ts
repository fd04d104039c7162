import { createHash } from 'node:crypto';
import {
  EVENT_ID_HEADER,
  EVENT_TYPE_HEADER,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';
import { isoOf } from '../../platform/db/index.ts';
import { escapeHtml } from '../../platform/http/index.ts';
import { encodeId } from '../../tenancy/index.ts';
import type { InboxDelivery } from '../../webhooks/index.ts';

export interface InboxEvent {
  event_id: string;
  type: string;
  resource: string;
  sequence: bigint;
  body: string;
  created_at: bigint | number;
  deliveries: readonly InboxDelivery[];
}

export interface InboxEndpoint {
  endpoint_id: string;
  url: string;
  types: readonly string[];
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
}

type Attempt = InboxDelivery['attempts'][number];

/** What stands around the list, which the script keeps fresh. */
export function introduction(list: string): string {
  return `<h1>Webhook inbox</h1>
<p class="quiet">The newest events of the sandbox's store, with their deliveries. Times are the merchant's clock, UTC.</p>
<p id="status" role="status">Reload the page to see what is new.</p>
<div id="inbox">
${list}
</div>`;
}

/** Blocks with names and versions: one whose version is the same is the same. */
export function listHtml(endpoints: readonly InboxEndpoint[], events: readonly InboxEvent[]): string {
  const blocks = [
    block('endpoints', '', endpointsHtml(endpoints)),
    ...events.map((event) => block(encodeId('event', event.event_id), 'event', eventHtml(event))),
    ...(events.length === 0 ? [block('nothing', '', NOTHING)] : []),
  ];
  return blocks.join('\n');
}

function block(id: string, kind: string, html: string): string {
  const version = createHash('sha256').update(html).digest('base64url').slice(0, 16);
  return `<section id="${id}" class="${kind}" data-version="${version}" aria-labelledby="${id}-title">${html}</section>`;
}

const NOTHING = `<h2 id="nothing-title">No event yet</h2>
<p>Make one happen: <code>npx florin trigger payout_batch.updated</code></p>`;

const NO_ENDPOINT = `<p>There is none, so nothing is sent. To receive events on this machine, or at an address that the
sandbox can reach:</p>
<pre tabindex="0" role="group" aria-label="Commands">npx florin listen --forward-to http://localhost:3000/webhooks
npx florin endpoints create https://shop.example/webhooks --types '*,payout_batch.updated'</pre>`;

function endpointsHtml(endpoints: readonly InboxEndpoint[]): string {
  const rows = endpoints.map(({ endpoint_id, url, types, status, disabled_reason }) => {
    const state = disabled_reason === null ? status : `${status} (${disabled_reason})`;
    return `<tr><td><code>${escapeHtml(url)}</code><br><span class="quiet">${encodeId('webhookEndpoint', endpoint_id)}</span></td>
<td>${escapeHtml(types.join(', '))}</td><td>${badge(status, state)}</td></tr>`;
  });
  const table = `<table><thead><tr><th scope="col">Address</th><th scope="col">Types</th><th scope="col">Status</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;
  return `<h2 id="endpoints-title">Endpoints</h2>${rows.length === 0 ? NO_ENDPOINT : table}`;
}

const badge = (kind: string, text: string) => `<span class="badge ${kind}">${escapeHtml(text)}</span>`;

function timeHtml(seconds: bigint | number): string {
  const iso = isoOf(Number(seconds) * 1000) ?? '';
  return `<time datetime="${iso}">${iso.replace('T', ' ').replace('Z', '')}</time>`;
}

function eventHtml(event: InboxEvent): string {
  const id = encodeId('event', event.event_id);
  const { deliveries } = event;
  const sent =
    deliveries.length === 0
      ? '<p class="quiet">Delivered to no endpoint.</p>'
      : deliveries.map(deliveryHtml).join('');
  return `<h2 id="${id}-title"><code>${escapeHtml(event.type)}</code></h2>
<p class="quiet">${timeHtml(event.created_at)} · ${escapeHtml(event.resource)} · sequence ${event.sequence} · ${id}</p>
${sent}
<details id="${id}-body"><summary id="${id}-fold">Body and headers</summary>
${headersHtml(event, id)}
<h3>Body</h3>
<p class="quiet">Sent on one line, byte for byte as it was recorded; here with line breaks.</p>
<pre tabindex="0" role="group" aria-label="Body of ${id}">${escapeHtml(JSON.stringify(JSON.parse(event.body), null, 2))}</pre>
</details>`;
}

function headersHtml(event: InboxEvent, id: string): string {
  const rows = [
    ['Content-Type', 'application/json', ''],
    ['User-Agent', 'Service-Webhook/1.0', ''],
    [EVENT_TYPE_HEADER, event.type, 'Not signed: act on the type in the body.'],
    [EVENT_ID_HEADER, id, 'Not signed: drop copies by the id in the body.'],
    [TIMESTAMP_HEADER, 'Unix seconds', 'Of the attempt. Refuse more than 300 s off your clock.'],
    [NONCE_HEADER, 'a random text', 'New at each attempt, 16 to 64 characters.'],
    [SIGNATURE_HEADER, '64 hex digits', 'HMAC-SHA256 of timestamp.nonce.body with the Secret Key.'],
  ] as const;
  const cells = rows.map(
    ([name, value, note]) =>
      `<tr><th scope="row"><code>${name}</code></th><td>${escapeHtml(value)}</td><td class="quiet">${note}</td></tr>`,
  );
  return `<h3>Headers</h3><table><tbody>${cells.join('')}</tbody></table>`;
}

function deliveryHtml({ delivery_id, url, status, due_at, attempts }: InboxDelivery): string {
  const id = encodeId('delivery', delivery_id);
  const next = status === 'pending' ? ` · next attempt ${timeHtml(due_at)}` : '';
  const rows = attempts.map(attemptHtml).join('');
  const table = `<table><caption class="quiet">Attempts of ${id}</caption>
<thead><tr><th scope="col">Began</th><th scope="col">Answer</th><th scope="col">Took</th><th scope="col">Body of the answer</th></tr></thead>
<tbody>${rows}</tbody></table>`;
  return `<p>${badge(status, status)} to <code>${escapeHtml(url)}</code>${next}</p>${attempts.length === 0 ? '' : table}`;
}

function attemptHtml({ at, status_code, failure, duration_ms, response }: Attempt): string {
  const answer = [status_code, failure].filter((part) => part !== null).join(' ');
  return `<tr><td>${timeHtml(at)}</td><td>${badge(failure === null ? 'delivered' : 'failed', answer)}</td>
<td>${duration_ms} ms</td><td>${response === null ? '–' : `<code class="answer">${escapeHtml(response)}</code>`}</td></tr>`;
}
